"""What is expected of the devices that the containers of a pod were given."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from lab.cluster.objects import Pod
from lab.harness.expectations.one_pod import OnePod, is_up, told
from lab.harness.expectations.visible import visible_devices
from lab.harness.sight import MET, Hopeless, NotYet, Sight


@dataclass(frozen=True)
class DeviceExpectation(OnePod):
    """What is expected of a pod's devices, by what its containers' own environment says.

    Shares of one card are one device here. `resource` is needed where a container has several.
    """

    def holds_devices(
        self, count: int, resource: str = "", *, container: str = "", within: float = 60
    ) -> Self:
        """A container of it was given so many devices."""
        __tracebackhide__ = True

        def judge(found: Sequence[str]) -> Sight:
            return MET if len(found) == count else Hopeless(f"it holds {_listed(found)}")

        what = f"holds {count} devices"
        return self._of_its_devices(what, judge, resource, container, within)

    def sees_only_its_devices(self, resource: str = "", *, within: float = 60) -> Self:
        """No other pod of the namespace that is on its node sees a device that it sees.

        Those that ask for devices have to be readable, too: what cannot be read proves nothing.
        """
        __tracebackhide__ = True

        def look(pod: Pod) -> Sight:
            mine = self._seen_now(pod, resource)
            if not mine:
                return NotYet(f"it sees no device; {told(pod)}")
            for other in self.expecting.view.pods.all():
                if other.name != pod.name and other.node == pod.node and is_up(other):
                    theirs = visible_devices(self.client, other, resource)
                    if theirs is None and other.requests:
                        return NotYet(f"the environment of {other.name} cannot be read")
                    if shared := [each for each in mine if each in (theirs or ())]:
                        return Hopeless(f"{other.name} sees {_listed(shared)}, too")
            return MET

        return self._until("sees only its devices", look, within)

    def sees_the_devices_of(
        self, other: "DeviceExpectation", resource: str = "", *, within: float = 60
    ) -> Self:
        """It sees the very devices that another pod sees, which are shared by both."""
        __tracebackhide__ = True

        def judge(found: Sequence[str]) -> Sight:
            theirs = self._seen_now(other.pod(), resource)
            if not found or not theirs:
                return NotYet(f"{_listed(found)}; {other.name} sees {_listed(theirs)}")
            same = set(found) == set(theirs)
            seen = f"it sees {_listed(found)}, and {other.name} sees {_listed(theirs)}"
            return MET if same else Hopeless(seen)

        what = f"sees the devices of {other.name}"
        return self._of_its_devices(what, judge, resource, "", within)

    def each_container_has_its_own(self, resource: str = "", *, within: float = 60) -> Self:
        """All of its containers run or have run, and no two that run were given the same device."""
        __tracebackhide__ = True

        def look(pod: Pod) -> Sight:
            holders: dict[str, str] = {}
            for each in (*pod.init_containers, *pod.containers):
                if each.state == "waiting":
                    return NotYet(told(pod))
                if each.state != "running":
                    continue
                found = visible_devices(self.client, pod, resource, container=each.name)
                if found is None:
                    return NotYet(f"the environment of {each.name} cannot be read")
                for device in found:
                    holder = holders.setdefault(device, each.name)
                    if holder != each.name:
                        return Hopeless(f"{holder} and {each.name} both see {device}")
            return MET if holders else NotYet(f"it sees no device; {told(pod)}")

        return self._until("gives each container devices of its own", look, within)

    def holds_unhealthy(self, *devices: str, within: float = 30) -> Self:
        """Its status calls these of its devices unhealthy, and no other, by their IDs.

        Kubelets from 1.36 on write that by default: see `Lab.tells_device_health`.
        """
        __tracebackhide__ = True

        def look(pod: Pod) -> Sight:
            every = (*pod.init_containers, *pod.containers)
            found = sorted(each for one in every for each in one.unhealthy)
            return MET if found == sorted(devices) else NotYet(f"unhealthy: {_listed(found)}")

        return self._until(f"holds as unhealthy: {_listed(devices)}", look, within)

    def on_numa_nodes(
        self, count: int, resource: str = "", *, container: str = "", within: float = 60
    ) -> Self:
        """The devices of a container are on so many NUMA nodes, by what the plugin reports."""
        __tracebackhide__ = True

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
        __tracebackhide__ = True
        held: list[str] = []

        def judge(found: Sequence[str]) -> Sight:
            held[:] = found
            return MET if found else Hopeless("it holds none")

        self._of_its_devices("holds devices", judge, resource, container, within)
        return tuple(held)

    def _seen_now(self, pod: Pod | None, resource: str) -> tuple[str, ...]:
        """Return the devices that a pod sees, none where it is not up."""
        if pod is None or not is_up(pod):
            return ()
        return visible_devices(self.client, pod, resource) or ()

    def _of_its_devices(
        self,
        awaited: str,
        judge: Callable[[Sequence[str]], Sight],
        resource: str,
        container: str,
        within: float,
    ) -> Self:
        __tracebackhide__ = True

        def look(pod: Pod) -> Sight:
            if not is_up(pod):
                return Hopeless(told(pod)) if pod.phase == "Failed" else NotYet(told(pod))
            found = visible_devices(self.client, pod, resource, container=container)
            return NotYet("its environment cannot be read") if found is None else judge(found)

        return self._until(awaited, look, within)


def _listed(devices: Sequence[str]) -> str:
    return ", ".join(devices) or "none"
