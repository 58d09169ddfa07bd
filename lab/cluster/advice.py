"""What to do when a lab's API server cannot be asked: it depends on whose cluster it is."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from lab.cluster.record import BackendName, moving


@dataclass(frozen=True)
class Advice:
    """What the errors of one lab's connection advise."""

    lab: str
    backend: BackendName
    kubeconfig: Path

    def of_silence(self) -> tuple[str, tuple[str, ...]]:
        """Return a remedy and its commands where the server does not answer."""
        if self.backend == "kind":
            remedy = "where the nodes are stopped, `gpulab up` starts them again"
            return remedy, (f"gpulab up --name {self.lab}",)
        look = ("kubectl", "--kubeconfig", str(self.kubeconfig), "get", "nodes")
        remedy = (
            "the cluster is not the lab's to start: see whether kubectl gets an answer; where the "
            "cluster has another address now, give the lab its kubeconfig again"
        )
        return remedy, (shlex.join(look), self._given_again)

    def of_silent_node(self, node: str) -> tuple[str, tuple[str, ...]]:
        """Return a remedy and its commands where a node does not answer, and the server does."""
        remedy = "see whether it runs: a node that is paused or hangs takes calls, and says nothing"
        kubectl = ("kubectl", "--kubeconfig", str(self.kubeconfig))
        status = shlex.join((*kubectl, "describe", "node", node))
        if self.backend == "kind":
            container = shlex.join(("docker", "ps", "--all", "--filter", f"name=^{node}$"))
            return remedy, (container, status)
        return remedy, (status,)

    def of_loss(self) -> tuple[str, tuple[str, ...]]:
        """Return a remedy and its commands where the kubeconfig is gone or damaged."""
        moved = moving(self.kubeconfig)
        if self.backend == "existing":
            return "give the lab the kubeconfig of its cluster again", (*moved, self._given_again)
        path = str(self.kubeconfig)
        export = ("kind", "export", "kubeconfig", "--name", self.lab, "--kubeconfig", path)
        # kind adds to a file that is there, and would stumble over this one.
        clear = (shlex.join(("rm", path)),) if self.kubeconfig.is_file() else moved
        return "have kind write it again", (*clear, shlex.join(export))

    @property
    def _given_again(self) -> str:
        return f"gpulab up --name {self.lab} --kubeconfig FILE"
