"""What is expected of a pod."""

import http
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from lab.cluster.connection import ApiFailed
from lab.cluster.informer import Change
from lab.cluster.objects import Pod
from lab.core.counted import counted
from lab.harness.expectations.devices import DeviceExpectation
from lab.harness.expectations.one_pod import require_container, told
from lab.harness.sight import MET, Hopeless, NotYet, Sight

#: Reasons to wait that end by nothing which a test does.
_FOR_GOOD: Final = frozenset({"InvalidImageName", "ErrImageNeverPull"})
#: What follows a name that has come to its end.
_WHOLE: Final = r"(?![\w/-]|\.\w)"
#: The container has not started, or the pod has gone by now.
_NO_LOG_YET: Final = frozenset({http.HTTPStatus.BAD_REQUEST, http.HTTPStatus.NOT_FOUND})
_ENDED: Final = frozenset({"Failed", "Succeeded"})


@dataclass(frozen=True)
class PodExpectation(DeviceExpectation):
    """What is expected of one pod, each with a deadline in seconds.

    Every method waits until it is so and returns this object, so that expectations can follow each
    other. Raises `ExpectationFailed` at the deadline, or before it where it can no longer come.
    """

    def running(self, *, within: float = 60) -> "PodExpectation":
        """All of its containers run and are ready."""
        return self._until("is running and ready", _runs, within)

    def stays_pending(
        self, *, because: str, lasting: float = 2, within: float = 30
    ) -> "PodExpectation":
        """The scheduler finds no node for it and says why, and that goes on.

        `because` is a part of the scheduler's message, such as `Insufficient nvidia.com/gpu`. A
        name in it is a whole one: this is not a part of `Insufficient nvidia.com/gpu.shared`.
        """
        awaited = f"stays Pending because {because!r}"
        self._until(awaited, lambda pod: _is_unscheduled(pod, because), within)
        look = self._looking(lambda pod: _is_unscheduled(pod, because))
        self.expecting.throughout(awaited, look, lasting)
        return self

    def rejected(
        self, reason: str = "UnexpectedAdmissionError", *, because: str = "", within: float = 60
    ) -> "PodExpectation":
        """The kubelet does not let it in: the pod has failed, with this reason and these words."""
        said = f" with {because!r}" if because else ""
        awaited = f"is rejected for {reason}{said}"
        return self._until(awaited, lambda pod: _is_rejected(pod, reason, because), within)

    def succeeded(self, *, within: float = 60) -> "PodExpectation":
        """All of its containers have ended with code 0."""
        return self._until("has succeeded", _has_succeeded, within)

    def waiting(self, *, because: str, within: float = 60) -> "PodExpectation":
        """A container waits for this, such as `CreateContainerError`, or words of its message."""

        def look(pod: Pod) -> Sight:
            if pod.phase in _ENDED:
                return Hopeless(told(pod))
            return MET if because in pod.waiting else NotYet(told(pod))

        return self._until(f"waits because {because!r}", look, within)

    def stays_unstarted(self, *, lasting: float = 2, within: float = 30) -> "PodExpectation":
        """A node was chosen for it, and its kubelet has begun none of its containers.

        No init container either. So looks a pod whose admission does not come to an end.
        """
        awaited = "has a node, and no container there"
        self._until(awaited, _is_unstarted, within)
        self.expecting.throughout(awaited, self._looking(_is_unstarted), lasting)
        return self

    def gone(self, *, within: float = 60) -> "PodExpectation":
        """There is no such pod any more."""

        def look() -> Sight:
            found = self.pod()
            return NotYet(told(found)) if found else MET

        self.expecting.until("is gone", look, within)
        return self

    def on(self, node: str, *, within: float = 30) -> "PodExpectation":
        """The scheduler has chosen this node, by the cluster's name for it."""

        def look(pod: Pod) -> Sight:
            if pod.node:
                return MET if pod.node == node else Hopeless(f"it is on {pod.node}")
            return NotYet(told(pod))

        return self._until(f"is on the node {node}", look, within)

    def event(
        self, reason: str, *, because: str = "", times: int = 1, within: float = 30
    ) -> "PodExpectation":
        """A component has said this of it, such as `FailedScheduling`, so many times or more."""

        def look() -> Sight:
            said = self.expecting.about()
            so = [each for each in said if each.reason == reason and because in each.message]
            found = sum(each.count for each in so)
            if found >= times:
                return MET
            if found:
                return NotYet(f"it was said {counted(found, 'time')}")
            return NotYet(f"{len(said)} other events" if said else "no event of it")

        words = f" that says {because!r}" if because else ""
        often = f", {times} times" if times > 1 else ""
        self.expecting.until(f"has an event {reason}{words}{often}", look, within)
        return self

    def logs(self, text: str, *, container: str = "", within: float = 30) -> "PodExpectation":
        """A container has printed this."""

        def look() -> Sight:
            said = self.log(container=container)
            return MET if text in said else NotYet(f"it has printed: {said.strip() or 'nothing'}")

        self.expecting.until(f"prints {text!r}", look, within)
        return self

    def restarted(self, times: int, *, within: float = 90) -> "PodExpectation":
        """Its containers were started again so many times or more, all together, and run.

        Whoever restarts often has done so once more before a test looks.
        """

        def look(pod: Pod) -> Sight:
            runs = bool(pod.containers) and all(each.state == "running" for each in pod.containers)
            if runs and pod.restarts >= times:
                return MET
            return NotYet(f"{counted(pod.restarts, 'restart')}; {told(pod)}")

        return self._until(f"was started again {times} times or more", look, within)

    @contextmanager
    def undisturbed(self, *, lasting: float = 1) -> Iterator[None]:
        """It runs, and goes on as it is: in the block, and for so many seconds after it.

        None of its containers ends, starts again or is replaced, those that are sidecars included,
        not even for a moment between two looks, and it neither fails nor is deleted; so the devices
        that its containers have are the same. Waits until it runs before the block begins.
        """
        before = self.running().pod()
        expected, started = _life(before), self.expecting.view.changes.last
        yield

        def look() -> Sight:
            between = (None if each.deleted else each.object for each in self._changes(started))
            for pod in (*between, self.pod()):
                if _life(pod) != expected:
                    seen = told(pod) if pod else "there is no such pod"
                    return Hopeless(f"{seen}; before: {told(before) if before else 'no pod'}")
            return MET

        self.expecting.throughout("goes on undisturbed", look, lasting)

    def never(self, what: str, is_so: Callable[[Pod], bool], *, lasting: float) -> "PodExpectation":
        """It is not so for that long, not even for a moment between two looks.

        `what` says in words what must not be, for the report.
        """
        started = self.expecting.view.changes.last

        def look() -> Sight:
            for pod in (*(each.object for each in self._changes(started)), self.pod()):
                if pod and is_so(pod):
                    return Hopeless(told(pod))
            return MET

        self.expecting.throughout(f"never {what}", look, lasting)
        return self

    def _changes(self, started: int) -> list[Change[Pod]]:
        """Return what became of it since then, oldest first."""
        changes = self.expecting.view.pods.since(started)
        return [each for each in changes if each.object.name == self.name]

    def log(self, *, container: str = "") -> str:
        """Return what a container has printed until now, "" before it runs.

        Raises `ApiFailed` where the server gives out no log, and `UsageError` for a container that
        the pod does not have.
        """
        found = self.pod()
        if found is None:
            return ""
        require_container(found, container)
        try:
            return self.client.logs(found, container=container)
        except ApiFailed as error:
            if error.status in _NO_LOG_YET:
                return ""
            raise


def _runs(pod: Pod) -> Sight:
    if pod.phase == "Running" and pod.ready and not pod.terminating:
        return MET
    stuck = any(each.reason in _FOR_GOOD for each in pod.containers if each.state == "waiting")
    return Hopeless(told(pod)) if pod.phase in _ENDED or stuck else NotYet(told(pod))


def _is_unscheduled(pod: Pod, because: str) -> Sight:
    if pod.node:
        return Hopeless(f"it was given the node {pod.node}; {told(pod)}")
    said = re.search(re.escape(because) + _WHOLE, pod.unscheduled)
    return MET if said else NotYet(told(pod))


def _is_unstarted(pod: Pod) -> Sight:
    begun = any(each.id for each in (*pod.init_containers, *pod.containers))
    if pod.phase not in {"", "Pending"} or begun:
        return Hopeless(told(pod))
    return MET if pod.node else NotYet(told(pod))


def _is_rejected(pod: Pod, reason: str, because: str) -> Sight:
    if pod.phase != "Failed":
        return Hopeless(told(pod)) if pod.phase == "Succeeded" else NotYet(told(pod))
    so = pod.reason == reason and because in pod.message
    return MET if so else Hopeless(told(pod))


def _has_succeeded(pod: Pod) -> Sight:
    if pod.phase == "Succeeded":
        return MET
    return Hopeless(told(pod)) if pod.phase == "Failed" else NotYet(told(pod))


def _life(pod: Pod | None) -> object:
    """Return what of a pod is the same as long as nobody disturbs it."""
    if pod is None or pod.terminating:
        return None
    every = (*pod.init_containers, *pod.containers)
    return pod.uid, pod.phase, [(each.id, each.restarts, each.state) for each in every]
