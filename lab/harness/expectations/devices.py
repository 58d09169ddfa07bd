"""What is expected of the devices that the containers of a pod were given."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from lab.cluster.objects import Container, Pod
from lab.harness.expectations.expecting import Expecting
from lab.harness.expectations.one_pod import is_up, require_container, told
from lab.harness.expectations.visible import Unreadable, visible_devices
from lab.harness.sight import MET, Hopeless, NotYet, Sight, once_answered

if TYPE_CHECKING:
    from lab.cluster.client import Client


#: By the name of a node, the NUMA node of each piece of hardware on it, None where it has none.
NumaNodes = Callable[[str], Mapping[str, int | None]]


@dataclass(frozen=True)
class DeviceExpectation:
    """What is expected of a pod's devices, by what its containers' own environment says.

    The pod may be there or not. Shares of one card are one device here. Without `resource`, those
    of all resources count.
    """

    expecting: Expecting
    client: "Client"
    namespace: str
    name: str
    numa_nodes: NumaNodes

    def pod(self) -> Pod | None:
        """Return the pod as it is now, None where there is none."""
        return self.expecting.view.pods.get(self.name, self.namespace)

    def holds_devices(
        self, count: int, resource: str = "", *, container: str = "", within: float = 60
    ) -> Self:
        """A container of it was given so many devices."""

        def judge(found: Sequence[str]) -> Sight:
            return MET if len(found) == count else Hopeless(f"it holds {_listed(found)}")

        what = f"holds {count} devices"
        return self._of_its_devices(what, judge, resource, container, within)

    def sees_only_its_devices(self, resource: str = "", *, within: float = 60) -> Self:
        """No other pod of the namespace that is on its node sees a device that it sees.

        All of its containers count which run, and none may wait. Nor may those of other pods that
        ask for devices, which have to be readable, too: what cannot be read proves nothing.
        """

        def look(pod: Pod) -> Sight:
            mine = self._seen_by(pod, resource)
            if isinstance(mine, NotYet):
                return mine
            unknown = None
            for other in self.expecting.view.pods.all():
                if other.name == pod.name or other.node != pod.node:
                    continue
                theirs = self._seen_in(other, resource)
                if isinstance(theirs, Unreadable):
                    if other.requests:
                        unknown = NotYet(theirs.of(other.name))
                elif shared := [each for each in mine if each in theirs]:
                    return Hopeless(f"{other.name} sees {_listed(shared)}, too")
                elif other.requests and _is_to_start(other):
                    unknown = NotYet(
                        f"what its neighbour {other.name} sees is not known yet: {told(other)}"
                    )
            return unknown or MET

        return self._until("sees only its devices", look, within)

    def sees_the_devices_of(
        self, other: "DeviceExpectation", resource: str = "", *, within: float = 60
    ) -> Self:
        """It sees the very devices that another pod sees, which are shared by both.

        Of each, all of its containers count.
        """

        def look(pod: Pod) -> Sight:
            mine = self._seen_by(pod, resource)
            if isinstance(mine, NotYet):
                return mine
            sharing = other.pod()
            if sharing is None:
                return NotYet(f"there is no pod {other.name}")
            theirs = other._seen_by(sharing, resource)  # noqa: SLF001 - of its own kind
            if isinstance(theirs, NotYet):
                return NotYet(f"{other.name}: {theirs.seen}")
            seen = f"it sees {_listed(mine)}, and {other.name} sees {_listed(theirs)}"
            return MET if set(mine) == set(theirs) else Hopeless(seen)

        return self._until(f"sees the devices of {other.name}", look, within)

    def each_container_has_its_own(self, resource: str = "", *, within: float = 60) -> Self:
        """Each of its containers that asks for devices and runs sees some, no two the same ones.

        At least two have to run and see devices, sidecars included; none may wait.
        """

        def look(pod: Pod) -> Sight:
            holders: dict[str, str] = {}
            for each in _awake(pod):
                found = visible_devices(self.client, pod, resource, container=each.name)
                if isinstance(found, Unreadable):
                    return NotYet(found.of(pod.name))
                if not found and _asks(pod, each, resource):
                    return Hopeless(f"{each.name} asks for devices, and sees none")
                for device in found:
                    holder = holders.setdefault(device, each.name)
                    if holder != each.name:
                        return Hopeless(f"{holder} and {each.name} both see {device}")
            if len({*holders.values()}) > 1 and not _waits(pod):
                return MET
            seen = _listed(sorted({*holders.values()}))
            return NotYet(f"containers that see devices: {seen}; {told(pod)}")

        return self._until("gives each container devices of its own", look, within)

    def holds_unhealthy(self, *devices: str, within: float = 30) -> Self:
        """Its status calls these of its devices unhealthy, and no other, by their IDs.

        Kubelets from 1.36 on write that by default: see `Lab.tells_device_health`.
        """

        def look(pod: Pod) -> Sight:
            every = (*pod.init_containers, *pod.containers)
            found = sorted(each for one in every for each in one.unhealthy)
            return MET if found == sorted(devices) else NotYet(f"unhealthy: {_listed(found)}")

        return self._until(f"holds as unhealthy: {_listed(devices)}", look, within)

    def on_numa_nodes(
        self, count: int, resource: str = "", *, container: str = "", within: float = 60
    ) -> Self:
        """The devices of a container are on so many NUMA nodes, by what the plugin reports."""

        @once_answered
        def judge(found: Sequence[str]) -> Sight:
            pod = self.pod()
            where = self.numa_nodes(pod.node) if pod else {}
            nodes = {where.get(each) for each in found}
            seen = ", ".join(f"{each} on {where.get(each)}" for each in found)
            known = bool(nodes) and None not in nodes
            return MET if known and len(nodes) == count else Hopeless(seen or "it holds none")

        what = f"has its devices on {count} NUMA nodes"
        return self._of_its_devices(what, judge, resource, container, within)

    def devices(
        self, resource: str = "", *, container: str = "", within: float = 60
    ) -> tuple[str, ...]:
        """Return the devices that a container was given, by their names: one at least.

        Of the one resource that it has, or of the one that is named. Waits until the container
        is up.
        """
        held: list[str] = []

        def judge(found: Sequence[str]) -> Sight:
            held[:] = found
            return MET if found else Hopeless("it holds none")

        self._of_its_devices("holds devices", judge, resource, container, within)
        return tuple(held)

    def _seen_by(self, pod: Pod, resource: str) -> tuple[str, ...] | NotYet:
        """Return the devices that its containers see, or why it is not known, or none yet."""
        if _waits(pod) or not is_up(pod):
            return NotYet(told(pod))
        found = self._seen_in(pod, resource)
        if isinstance(found, Unreadable):
            return NotYet(found.of(pod.name))
        return found or NotYet(f"it sees no device; {told(pod)}")

    def _seen_in(self, pod: Pod, resource: str) -> tuple[str, ...] | Unreadable:
        """Return the devices that those of its containers see which run."""
        every: dict[str, None] = {}
        for each in _awake(pod):
            found = visible_devices(self.client, pod, resource, container=each.name)
            if isinstance(found, Unreadable):
                return found
            every |= dict.fromkeys(found)
        return tuple(every)

    def _until(self, awaited: str, look: Callable[[Pod], Sight], within: float) -> Self:
        self.expecting.until(awaited, self._looking(look), within)
        return self

    def _looking(self, look: Callable[[Pod], Sight]) -> Callable[[], Sight]:
        def looking() -> Sight:
            found = self.pod()
            return look(found) if found else NotYet("there is no such pod")

        return looking

    def _of_its_devices(
        self,
        awaited: str,
        judge: Callable[[Sequence[str]], Sight],
        resource: str,
        container: str,
        within: float,
    ) -> Self:

        def look(pod: Pod) -> Sight:
            require_container(pod, container)
            if not is_up(pod):
                return Hopeless(told(pod)) if pod.phase == "Failed" else NotYet(told(pod))
            found = visible_devices(self.client, pod, resource, container=container)
            return NotYet(found.of(pod.name)) if isinstance(found, Unreadable) else judge(found)

        return self._until(awaited, look, within)


def _awake(pod: Pod) -> Iterator[Container]:
    """Yield its containers that run, sidecars first."""
    return (each for each in (*pod.init_containers, *pod.containers) if each.state == "running")


def _waits(pod: Pod) -> bool:
    return any(each.state == "waiting" for each in (*pod.init_containers, *pod.containers))


def _is_to_start(pod: Pod) -> bool:
    """Whether a container of it is still to start; before the kubelet has it, it has none."""
    ended = pod.phase in {"Succeeded", "Failed"}
    return not ended and (_waits(pod) or not pod.containers)


def _asks(pod: Pod, container: Container, resource: str) -> bool:
    """Whether a container asks for devices, of one resource or of any."""
    limits = pod.limits.get(container.name, {})
    return any(count for name, count in limits.items() if resource in {"", name})


def _listed(devices: Sequence[str]) -> str:
    return ", ".join(devices) or "none"
