"""The plugin's metrics about itself."""

from collections import Counter
from collections.abc import Iterator

from fake_plugin.inventory import Inventory
from fake_plugin.metrics.families import Family, Metric, Sample
from fake_plugin.metrics.pod_resources import Answer

DEVICES = Metric(
    "gpulab_plugin_devices", "gauge", "Devices that the kubelet is told of, by their health."
)
POD_RESOURCES = Metric(
    "gpulab_plugin_pod_resources_up",
    "gauge",
    "1 where the kubelet says which pod holds which device, else 0.",
)


def families(inventory: Inventory, answer: Answer | None) -> Iterator[Family]:
    """Return the families; `answer` is the kubelet's, None where the plugin asks no kubelet."""
    yield Family(DEVICES, _devices(inventory))
    if answer:
        yield Family(POD_RESOURCES, (Sample((), int(not answer.problem)),))


def _devices(inventory: Inventory) -> Iterator[Sample]:
    for resource in inventory.resources:
        counts = Counter(resource.is_healthy(device) for device in resource.devices)
        for healthy, name in ((True, "healthy"), (False, "unhealthy")):
            yield Sample((("resource", resource.name), ("health", name)), counts[healthy])
