"""What is expected of a pod."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lab.cluster.connection import ApiFailed
from lab.cluster.objects import Container, Pod
from lab.harness.expectations.expecting import Expecting
from lab.harness.expectations.visible import visible_devices
from lab.harness.sight import MET, Hopeless, NotYet, Sight

if TYPE_CHECKING:
    from lab.cluster.client import Client

#: Reasons to wait that end by nothing which a test does.
_FOR_GOOD: Final = frozenset({"InvalidImageName", "ErrImageNeverPull"})


@dataclass(frozen=True)
class PodExpectation:
    """What is expected of one pod, each with a deadline in seconds.

    Every method waits until it is so and returns this object, so that expectations can follow each
    other. Raises `ExpectationFailed` at the deadline, or before it where it can no longer come.
    """

    expecting: Expecting
    client: "Client"
    namespace: str
    name: str

    def running(self, *, within: float = 60) -> "PodExpectation":
        """All of its containers run and are ready."""
        __tracebackhide__ = True
        return self._until("is running and ready", _runs, within)

    def stays_pending(
        self, *, because: str, lasting: float = 2, within: float = 30
    ) -> "PodExpectation":
        """The scheduler finds no node for it and says why, and that goes on.

        `because` is a part of the scheduler's message, such as `Insufficient nvidia.com/gpu`.
        """
        __tracebackhide__ = True
        awaited = f"stays Pending because {because!r}"
        self._until(awaited, lambda pod: _is_unscheduled(pod, because), within)
        look = self._looking(lambda pod: _is_unscheduled(pod, because))
        self.expecting.throughout(awaited, look, lasting)
        return self

    def rejected(
        self, reason: str = "UnexpectedAdmissionError", *, because: str = "", within: float = 60
    ) -> "PodExpectation":
        """The kubelet does not let it in: the pod has failed, with this reason and these words."""
        __tracebackhide__ = True
        said = f" with {because!r}" if because else ""
        awaited = f"is rejected for {reason}{said}"
        return self._until(awaited, lambda pod: _is_rejected(pod, reason, because), within)

    def succeeded(self, *, within: float = 60) -> "PodExpectation":
        """All of its containers have ended with code 0."""
        __tracebackhide__ = True
        return self._until("has succeeded", _has_succeeded, within)

    def waiting(self, *, because: str, within: float = 60) -> "PodExpectation":
        """A container waits for this, such as `CreateContainerError`, or words of its message."""
        __tracebackhide__ = True

        def look(pod: Pod) -> Sight:
            return MET if because in pod.waiting else NotYet(_told(pod))

        return self._until(f"waits because {because!r}", look, within)

    def gone(self, *, within: float = 60) -> "PodExpectation":
        """There is no such pod any more."""
        __tracebackhide__ = True

        def look() -> Sight:
            found = self._pod()
            return NotYet(_told(found)) if found else MET

        self.expecting.until("is gone", look, within)
        return self

    def on(self, node: str, *, within: float = 30) -> "PodExpectation":
        """The scheduler has chosen this node, by the cluster's name for it."""
        __tracebackhide__ = True

        def look(pod: Pod) -> Sight:
            if pod.node:
                return MET if pod.node == node else Hopeless(f"it is on {pod.node}")
            return NotYet(_told(pod))

        return self._until(f"is on the node {node}", look, within)

    def event(self, reason: str, *, because: str = "", within: float = 30) -> "PodExpectation":
        """A component has said this of it, such as `FailedScheduling`."""
        __tracebackhide__ = True

        def look() -> Sight:
            said = self.expecting.about()
            if any(each.reason == reason and because in each.message for each in said):
                return MET
            return NotYet(f"{len(said)} other events" if said else "no event of it")

        words = f" that says {because!r}" if because else ""
        self.expecting.until(f"has an event {reason}{words}", look, within)
        return self

    def logs(self, text: str, *, container: str = "", within: float = 30) -> "PodExpectation":
        """A container has printed this."""
        __tracebackhide__ = True

        def look() -> Sight:
            said = self.log(container=container)
            return MET if text in said else NotYet(f"it has printed: {said.strip() or 'nothing'}")

        self.expecting.until(f"prints {text!r}", look, within)
        return self

    def holds_devices(
        self, count: int, resource: str = "", *, container: str = "", within: float = 60
    ) -> "PodExpectation":
        """A container of it was given so many devices, by what its own environment says.

        Shares of one card are one device here. `resource` is needed where it has several.
        """
        __tracebackhide__ = True

        def look(pod: Pod) -> Sight:
            if not _is_up(pod):
                return Hopeless(_told(pod)) if pod.phase == "Failed" else NotYet(_told(pod))
            found = visible_devices(self.client, pod, resource, container=container)
            if found is None:
                return NotYet("its environment cannot be read")
            return MET if len(found) == count else Hopeless(f"it holds {_listed(found)}")

        return self._until(f"holds {count} devices", look, within)

    def sees_only_its_devices(self, resource: str = "", *, within: float = 60) -> "PodExpectation":
        """No other pod of the namespace that is on its node sees a device that it sees."""
        __tracebackhide__ = True

        def look(pod: Pod) -> Sight:
            mine = self.devices(resource) if _is_up(pod) else None
            if not mine:
                return NotYet(f"it sees no device; {_told(pod)}")
            for other in self.expecting.view.pods.all():
                if other.name != pod.name and other.node == pod.node and _is_up(other):
                    theirs = visible_devices(self.client, other, resource) or ()
                    if shared := [each for each in mine if each in theirs]:
                        return Hopeless(f"{other.name} sees {_listed(shared)}, too")
            return MET

        return self._until("sees only its devices", look, within)

    def devices(self, resource: str = "", *, container: str = "") -> tuple[str, ...] | None:
        """Return the devices that a container was given, by their names; None where it is not up.

        Of the one resource that it has, or of the one that is named.
        """
        found = self._pod()
        if found is None or not _is_up(found):
            return None
        return visible_devices(self.client, found, resource, container=container)

    def stays_as_it_is(self, *, lasting: float) -> "PodExpectation":
        """No container of it ends, restarts or is replaced for that long, and it is not deleted."""
        __tracebackhide__ = True
        before = self._pod()
        expected = _lives(before)

        def look(pod: Pod) -> Sight:
            if pod.terminating or _lives(pod) != expected:
                return Hopeless(f"{_told(pod)}; before: {_told(before) if before else 'no pod'}")
            return MET

        self.expecting.throughout("stays as it is", self._looking(look), lasting)
        return self

    def never(self, what: str, is_so: Callable[[Pod], bool], *, lasting: float) -> "PodExpectation":
        """It is not so for that long, not even for a moment between two looks.

        `what` says in words what must not be, for the report.
        """
        __tracebackhide__ = True
        started = self.expecting.view.changes.last

        def look() -> Sight:
            found = self._pod()
            changes = self.expecting.view.pods.since(started)
            between = [each.object for each in changes if each.object.name == self.name]
            for pod in (*between, *([found] if found else ())):
                if is_so(pod):
                    return Hopeless(_told(pod))
            return MET

        self.expecting.throughout(f"never {what}", look, lasting)
        return self

    def log(self, *, container: str = "") -> str:
        """Return what a container has printed until now, "" before it runs."""
        found = self._pod()
        if found is None:
            return ""
        try:
            return self.client.logs(found, container=container)
        except ApiFailed as error:
            if error.status:  # The server answers: the container has not started.
                return ""
            raise

    def pod(self) -> Pod | None:
        """Return the pod as it is now, None where there is none."""
        return self._pod()

    def _until(self, awaited: str, look: Callable[[Pod], Sight], within: float) -> "PodExpectation":
        __tracebackhide__ = True
        self.expecting.until(awaited, self._looking(look), within)
        return self

    def _looking(self, look: Callable[[Pod], Sight]) -> Callable[[], Sight]:
        def looking() -> Sight:
            found = self._pod()
            return look(found) if found else NotYet("there is no such pod")

        return looking

    def _pod(self) -> Pod | None:
        return self.expecting.view.pods.get(self.name, self.namespace)


def _is_up(pod: Pod) -> bool:
    return any(each.state == "running" for each in pod.containers)


def _listed(devices: Sequence[str]) -> str:
    return ", ".join(devices) or "none"


def _runs(pod: Pod) -> Sight:
    if pod.phase == "Running" and pod.ready and not pod.terminating:
        return MET
    ended = pod.phase in {"Failed", "Succeeded"}
    stuck = any(each.reason in _FOR_GOOD for each in pod.containers if each.state == "waiting")
    return Hopeless(_told(pod)) if ended or stuck else NotYet(_told(pod))


def _is_unscheduled(pod: Pod, because: str) -> Sight:
    if pod.node:
        return Hopeless(f"it was given the node {pod.node}; {_told(pod)}")
    return MET if because in pod.unscheduled else NotYet(_told(pod))


def _is_rejected(pod: Pod, reason: str, because: str) -> Sight:
    if pod.phase != "Failed":
        return Hopeless(_told(pod)) if pod.phase == "Succeeded" else NotYet(_told(pod))
    so = pod.reason == reason and because in pod.message
    return MET if so else Hopeless(_told(pod))


def _has_succeeded(pod: Pod) -> Sight:
    if pod.phase == "Succeeded":
        return MET
    return Hopeless(_told(pod)) if pod.phase == "Failed" else NotYet(_told(pod))


def _lives(pod: Pod | None) -> tuple[tuple[str, int], ...]:
    return tuple((each.id, each.restarts) for each in pod.containers) if pod else ()


def _told(pod: Pod) -> str:
    """Return what there is to say of a pod, in a line or two."""
    words = [pod.phase or "no phase yet"]
    if pod.terminating:
        words.append("being deleted")
    if pod.node:
        words.append(f"on {pod.node}")
    words.extend(filter(None, (pod.reason, pod.message, pod.unscheduled)))
    words.extend(filter(None, map(_told_container, (*pod.init_containers, *pod.containers))))
    return ", ".join(words)


def _told_container(found: Container) -> str:
    match found.state:
        case "waiting":
            return f"container {found.name} waits: {found.waits_for}" if found.waits_for else ""
        case "terminated":
            return f"container {found.name} ended with {found.exit_code} ({found.reason})"
        case _ if not found.ready:
            return f"container {found.name} runs but is not ready"
        case _:
            return ""
