"""Which container of which pod holds which devices."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import ContainerAllocateResponse
from lab.embedded.kubelet.device import Device

#: The key for devices without a NUMA node.
NO_NUMA: Final = -1


@dataclass(frozen=True)
class Holding:
    """Devices of one resource that one container has, by NUMA node, and the plugin's answer.

    A device that is near to several nodes is under each of them.
    """

    by_numa: Mapping[int, Sequence[str]]
    answer: ContainerAllocateResponse

    @property
    def ids(self) -> frozenset[str]:
        """Return the IDs of the devices."""
        return frozenset(each for ids in self.by_numa.values() for each in ids)


def hold(devices: Iterable[Device], answer: ContainerAllocateResponse) -> Holding:
    """Return the holding of these devices."""
    by_numa: dict[int, list[str]] = {}
    for device in devices:
        for node in device.numa or (NO_NUMA,):
            by_numa.setdefault(node, []).append(device.id)
    return Holding(by_numa, answer)


class Holdings:
    """All holdings of the node (devicemanager/pod_devices.go). Guarded by whoever owns it."""

    def __init__(self) -> None:
        self._held: dict[str, dict[str, dict[str, Holding]]] = {}

    def __iter__(self) -> Iterator[tuple[str, str, str, Holding]]:
        """Yield pod UID, container, resource and holding."""
        for uid, containers in self._held.items():
            for container, resources in containers.items():
                for resource, holding in resources.items():
                    yield uid, container, resource, holding

    def insert(self, uid: str, container: str, resource: str, holding: Holding) -> None:
        """Take down what a container was given, in the place of what it had."""
        self._held.setdefault(uid, {}).setdefault(container, {})[resource] = holding

    def of(self, uid: str, container: str) -> Mapping[str, Holding]:
        """Return what a container holds, by resource."""
        return self._held.get(uid, {}).get(container, {})

    def ids(self, uid: str, container: str, resource: str) -> frozenset[str] | None:
        """Return the devices of a container; None where it was given none of the resource."""
        holding = self.of(uid, container).get(resource)
        return holding.ids if holding else None

    def pods(self) -> set[str]:
        """Return the UIDs of all pods that hold something."""
        return set(self._held)

    def forget(self, uids: Iterable[str]) -> None:
        """Take everything from these pods."""
        for uid in uids:
            self._held.pop(uid, None)

    def held(self) -> dict[str, set[str]]:
        """Return all devices that somebody holds, by resource."""
        held: dict[str, set[str]] = {}
        for _, _, resource, holding in self:
            held.setdefault(resource, set()).update(holding.ids)
        return held
