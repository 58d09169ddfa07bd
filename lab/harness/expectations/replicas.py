"""What is expected of the pods of a workload, whose names its controller makes up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lab.cluster.objects import Pod
from lab.harness.expectations.expecting import Expecting
from lab.harness.expectations.one_pod import told
from lab.harness.sight import MET, NotYet, Sight


@dataclass(frozen=True)
class ReplicasExpectation:
    """What is expected of the pods of one Deployment, each with a deadline in seconds.

    Every method waits until it is so and returns this object. Raises `ExpectationFailed`.
    """

    expecting: Expecting
    pods: Callable[[], Sequence[Pod]]

    def running(self, count: int, *, within: float = 60) -> "ReplicasExpectation":
        """So many of its pods run and are ready; others may have failed."""

        def is_so(pod: Pod) -> bool:
            return pod.phase == "Running" and pod.ready and not pod.terminating

        return self._until(f"{count} of its pods run", is_so, lambda found: found == count, within)

    def rejected(
        self, reason: str = "UnexpectedAdmissionError", *, because: str = "", within: float = 60
    ) -> "ReplicasExpectation":
        """The kubelet has let at least one of its pods not in, for this reason, and it is there."""

        def is_so(pod: Pod) -> bool:
            return (pod.phase, pod.reason) == ("Failed", reason) and because in pod.message

        said = f" with {because!r}" if because else ""
        awaited = f"one of its pods is rejected for {reason}{said}"
        return self._until(awaited, is_so, bool, within)

    def _until(
        self,
        awaited: str,
        is_so: Callable[[Pod], bool],
        enough: Callable[[int], bool],
        within: float,
    ) -> "ReplicasExpectation":

        def look() -> Sight:
            pods = self.pods()
            if enough(sum(map(is_so, pods))):
                return MET
            seen = "\n".join(f"{pod.name}: {told(pod)}" for pod in pods)
            return NotYet(seen or "it has no pod")

        self.expecting.until(awaited, look, within)
        return self
