"""What an administrator sets: who may have how much, and who comes first."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from lab.cluster.connection import ApiFailed, Json
from lab.harness.failure import ExpectationFailed
from lab.harness.sight import MET, NotYet, Sight
from lab.harness.view import View

if TYPE_CHECKING:
    from lab.harness.submitting import Submitted
    from lab.harness.workloads import Manifest
    from lab.install.status import RunningLab

_REFUSALS: Final = range(400, 500)
_QUOTA_SECONDS: Final = 30.0


class Policies(ABC):
    """The rules of a lab's cluster, as far as a test sets them, and what they refuse."""

    running: "RunningLab"
    namespace: str
    view: View

    @abstractmethod
    def submit(self, manifest: Json) -> "Submitted":
        """Create an object for the time of the test."""

    def quota(self, name: str, most: Mapping[str, int]) -> None:
        """Let the pods of the namespace ask for no more than this, by resource, all together.

        Returns when the API server goes by it: until a controller has counted for the first time,
        it refuses whatever the quota is about.
        """
        hard = {f"requests.{resource}": str(count) for resource, count in most.items()}
        meta = {"name": name, "namespace": self.namespace}
        made = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta}
        self.running.client.create({**made, "spec": {"hard": hard}})
        path = f"/api/v1/namespaces/{self.namespace}/resourcequotas/{name}"

        def look() -> Sight:
            counted = self.running.client.connection.get(path)["status"].get("hard")
            return MET if counted == hard else NotYet("nobody has counted for it yet")

        self.view.require(
            look,
            _QUOTA_SECONDS,
            f"the quota {name} was not in force",
            where=self.namespace,
            remedy="see whether the cluster's controller manager runs",
        )

    def priority_class(self, name: str, value: int, *, preempts: bool = True) -> str:
        """Make a priority for the time of the test; return the name that pods give of it.

        Priority classes are the whole cluster's, so the test's namespace is a part of the name.
        `preempts` says whether its pods may take the places of others.
        """
        meta = {"name": f"{name}-{self.namespace}"}
        made: Manifest = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        policy = "PreemptLowerPriority" if preempts else "Never"
        made |= {"metadata": meta, "value": value, "preemptionPolicy": policy}
        return self.submit(made).name

    def refuses(self, manifest: Json, *, because: str) -> None:
        """See that the API server does not take an object, and says so in these words.

        Raises `ExpectationFailed` where it takes it, or has other words, and `UsageError` as
        `submit`.
        """
        try:
            self.submit(manifest)
        except ApiFailed as error:
            if because in error.seen:
                return
            if error.status not in _REFUSALS:
                raise
            seen = error.seen
        else:
            seen = "it was taken"
        raise ExpectationFailed(
            f"the API server refuses it because {because!r}",
            subject=f"{manifest['kind'].lower()} {manifest['metadata']['name']}",
            seen=seen,
        )
