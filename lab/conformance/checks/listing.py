"""What a plugin lists, and over how many streams."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import Device
from fake_plugin.resources.message_limit import MESSAGE_LIMIT
from lab.conformance.check import Failed, NotApplicable, check
from lab.conformance.trial import Trial
from lab.core.counted import counted

_TOO_LARGE: Final = re.compile(r"received message larger than max \((\d+) vs")
_HEALTH: Final = frozenset({"Healthy", "Unhealthy"})
#: More than a pool of threads commonly has.
_STREAMS: Final = 16
_SHOWN: Final = 3
_NO_DEVICES: Final = "an empty list: what takes a device cannot be checked"


def shown(names: Iterable[str]) -> str:
    """Return some names, and how many there are besides."""
    names = list(names)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more


@check(
    "first-list",
    "lists its devices at once",
    why="Until a first list comes the node does not have the resource, and pods that ask for it "
    "stay Pending; a list that says nothing new may then wait for ever.",
    source="manager.go: genericDeviceUpdateCallback",
    needs=("registers",),
)
def first_list(trial: Trial) -> str:
    """Wait for the first message on the kubelet's stream, however large."""
    # One that ends before anybody looks at it has failed, too.
    trial.require_registration()
    message, call = trial.listed(), trial.stream()
    if message is None:
        error = call.error if call else ""
        if _TOO_LARGE.search(error):
            return "a list that is too large"
        trial.rest()
        if end := trial.end_of_plugin():
            raise Failed(end)
        raise Failed(error or f"no list within {trial.limits.first_list:g} s")
    # A kubelet takes an empty list, and some send one before they have looked.
    trial.wait(lambda: (newest := trial.listed()) and newest.devices, trial.limits.first_list)
    number = len((trial.listed() or message).devices)
    return counted(number, "device") if number else _NO_DEVICES


@check(
    "list-size",
    "keeps a list below 4 MiB",
    why="A larger message breaks the stream: the node has 0 to give, whatever the plugin does.",
    source="kubernetes/kubernetes#109304",
    needs=("first-list",),
)
def list_size(trial: Trial) -> str:
    """Look at the size of the list, or at what broke the stream."""
    call = trial.stream()
    if call and (found := _TOO_LARGE.search(call.error)):
        raise Failed(f"{found[1]} bytes, where {MESSAGE_LIMIT} are the limit")
    message = trial.listed()
    if message is None:
        raise NotApplicable("there is no list")
    return f"{message.ByteSize()} bytes"


@check(
    "ids",
    "gives every device an ID of its own",
    why="Devices with one ID are one device for the kubelet, and are counted twice where their "
    "health differs. An empty ID names nothing that a container could be given.",
    source="manager.go: genericDeviceUpdateCallback",
    needs=("first-list",),
)
def ids(trial: Trial) -> str:
    """Count the IDs of a list."""
    times = Counter(each.ID for each in trial.some_devices())
    if "" in times:
        raise Failed(f"without an ID: {counted(times[''], 'device')}")
    if twice := [each for each, number in times.items() if number > 1]:
        raise Failed(f"listed more than once: {shown(twice)}")
    return counted(len(times), "ID")


@check(
    "health",
    "says Healthy or Unhealthy",
    why="Every word but Healthy is unhealthy for the kubelet, healthy among them: the device is "
    "on the node and no pod can have it.",
    source="manager.go: genericDeviceUpdateCallback",
    needs=("first-list",),
)
def health(trial: Trial) -> str:
    """Look at the words for health."""
    words = Counter(each.health for each in trial.some_devices())
    if wrong := sorted(set(words) - _HEALTH):
        raise Failed(f"health is {shown(wrong)}")
    return ", ".join(f"{number} {word}" for word, number in words.items())


@check(
    "numa",
    "numbers NUMA nodes from 0",
    why="-1 is what the kubelet itself writes for a device without a NUMA node, and a node that "
    "the machine has not fits no hint: under a strict topology policy no pod gets the device.",
    source="manager.go: filterByAffinity; topology_hints.go: deviceNUMANodes",
    needs=("first-list",),
)
def numa(trial: Trial) -> str:
    """Look at the topology of devices that have one."""
    found = {each.ID: _nodes(each) for each in trial.some_devices() if each.HasField("topology")}
    if not found:
        raise NotApplicable("no device has a topology")
    if wrong := [each for each, nodes in found.items() if min(nodes, default=0) < 0]:
        nodes = found[wrong[0]]
        raise Failed(f"a NUMA node below 0, as {min(nodes)}, at {shown(wrong)}")
    return f"nodes {', '.join(map(str, sorted(set().union(*found.values()))))}"


def _nodes(device: Device) -> set[int]:
    return {node.ID for node in device.topology.nodes}


@check(
    "stream-stays",
    "keeps the stream open",
    why="The end of the stream is the end of the plugin to a kubelet: it has 0 to give at once, "
    "forgets the resource after five minutes, and never connects again by itself.",
    source="manager.go: PluginDisconnected; types.go: endpointStopGracePeriod",
    needs=("first-list", "list-size"),
)
def stream_stays(trial: Trial) -> str:
    """Look for a while whether the stream ends."""
    client, call = trial.registered(), trial.stream()
    if trial.wait(client.ended.is_set, trial.limits.quiet):
        trial.rest()
    if end := trial.end_of_plugin():
        raise Failed(end)
    if client.ended.is_set():
        raise Failed(f"it ended: {call.error if call else 'at once'}")
    return f"open for {trial.limits.quiet:g} s"


@check(
    "second-stream",
    "lists the same on a second stream",
    why="A kubelet that is back may watch while the stream of the one before is still open, and up "
    "to 1.36 a second registration leaves both open.",
    source="kubernetes/kubernetes#121994, #127803",
    needs=("first-list", "list-size"),
)
def second_stream(trial: Trial) -> str:
    """Open a stream beside the kubelet's."""
    first = {each.ID for each in trial.devices()}
    with trial.calls() as calls, calls.listing() as message:
        second = {each.ID for each in message.devices}
    if first != second:
        raise Failed(difference(first, second))
    return f"{len(second)} devices"


def difference(before: set[str], after: set[str]) -> str:
    """Say which IDs went and came."""
    gone, new = sorted(before - after), sorted(after - before)
    said = (f"gone: {shown(gone)}" if gone else "", f"new: {shown(new)}" if new else "")
    return "; ".join(each for each in said if each)


@check(
    "stream-cancelled",
    "lets go of streams that are cancelled",
    why="Each restart of the kubelet cancels a stream. A plugin that keeps a thread or a queue for "
    "it stops answering after some of them.",
    source="manager.go: PluginDisconnected",
    needs=("second-stream",),
)
def stream_cancelled(trial: Trial) -> str:
    """Open and cancel streams, one after the other, and then ask for another thing."""
    with trial.calls() as calls:
        for _ in range(_STREAMS):
            with calls.listing():
                pass
        calls.options()
    return f"{_STREAMS} of them"
