"""The way of a pod to its devices: nine steps, made of what was observed and of nothing else."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from lab.harness.timeline.admission import admission
from lab.harness.timeline.observation import Observation
from lab.harness.timeline.offering import offering
from lab.harness.timeline.start import start
from lab.harness.timeline.step import SCHEDULE, Step


@dataclass(frozen=True)
class Timeline:
    """The nine steps of one pod, in their order, as they were known `at` a moment.

    `node` is the pod's, or one that could serve it. `asks` is how many devices the pod asks for by
    resource. Times of different machines are by their own clocks.
    """

    namespace: str
    pod: str
    phase: str
    node: str
    asks: tuple[tuple[str, int], ...]
    at: datetime
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, seen: Observation) -> "Timeline":
        """Tell the steps from what was observed."""
        requests = seen.pod.requests if seen.pod else {}
        return cls(
            seen.namespace,
            seen.name,
            seen.pod.phase if seen.pod else "",
            seen.node,
            tuple((name, requests[name]) for name in seen.resources if name in requests),
            seen.at,
            (*offering(seen), *admission(seen), *start(seen)),
        )

    @property
    def is_placed(self) -> bool:
        """Whether the pod has a node: else `node` is the one by which the first steps are told."""
        return any(each.number == SCHEDULE and each.outcome == "done" for each in self.steps)

    @property
    def day(self) -> datetime:
        """Return the day that most times are of: that of the last step with a time."""
        return max((each.moment.at for each in self.steps if each.moment.at), default=self.at)

    def as_json(self) -> dict[str, JsonValue]:
        """Return the contract for tools: `gpulab timeline --output json`."""
        return {
            "namespace": self.namespace,
            "pod": self.pod,
            "phase": self.phase,
            "node": self.node,
            "asks": dict(self.asks),
            "observed": self.at.isoformat(timespec="milliseconds"),
            "steps": [each.as_json() for each in self.steps],
        }
