"""The plugin's metrics about itself."""

from collections import Counter
from collections.abc import Iterable, Iterator

from fake_plugin.metrics.families import Family, Metric, Sample
from fake_plugin.metrics.pod_resources import Answer
from fake_plugin.resources.inventory import Inventory
from fake_plugin.serving.journal import Tally

DEVICES = Metric(
    "gpulab_plugin_devices", "gauge", "Devices that the kubelet is told of, by their health."
)
POD_RESOURCES = Metric(
    "gpulab_plugin_pod_resources_up",
    "gauge",
    "1 where the kubelet says which pod holds which device, else 0.",
)
CALLS = Metric(
    "gpulab_plugin_calls_total", "counter", "Calls of the kubelet, and to it, that have ended."
)
LISTS = Metric("gpulab_plugin_lists_sent_total", "counter", "Lists of devices sent to the kubelet.")
FAULTS = Metric("gpulab_plugin_faults_total", "counter", "Calls that went wrong on command.")


def families(inventory: Inventory, tally: Tally, answer: Answer | None) -> Iterator[Family]:
    """Return the families; `answer` is the kubelet's, None where the plugin asks no kubelet."""
    yield Family(DEVICES, _devices(inventory))
    yield _counted(CALLS, ("call", "resource", "code"), tally.calls.items())
    yield _counted(LISTS, ("resource",), [((name,), n) for name, n in tally.lists.items()])
    yield _counted(FAULTS, ("call", "resource"), tally.faults.items())
    if answer:
        yield Family(POD_RESOURCES, (Sample((), int(not answer.problem)),))


def _counted(
    metric: Metric, labels: tuple[str, ...], counts: Iterable[tuple[tuple[str, ...], int]]
) -> Family:
    samples = (
        Sample(tuple(zip(labels, values, strict=True)), count) for values, count in sorted(counts)
    )
    return Family(metric, samples)


def _devices(inventory: Inventory) -> Iterator[Sample]:
    for resource in inventory.resources:
        counts = Counter(resource.is_healthy(device) for device in resource.devices)
        for healthy, name in ((True, "healthy"), (False, "unhealthy")):
            yield Sample((("resource", resource.name), ("health", name)), counts[healthy])
