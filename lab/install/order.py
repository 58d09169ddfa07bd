"""What the user asks of `gpulab up`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lab.cluster.record import BackendName
from lab.core.errors import UsageError
from lab.core.fleet import Fleet


@dataclass(frozen=True)
class Order:
    """A lab by its name, and what is to be in it.

    `timeout` bounds the wait for devices, in seconds. On kind, `found_config` is the configuration
    that is used where no `kind_config` is asked for, and a new cluster has at least that many
    `workers`, for fleets that are to come. For a cluster that is there: a kubeconfig, one of its
    contexts, the nodes that the lab may have, and where the plugin's image is pulled from.
    """

    name: str
    fleet: Fleet
    kind_config: Path | None
    node_image: str | None
    timeout: float
    backend: Literal["auto"] | BackendName = "auto"
    found_config: Path | None = None
    workers: int = 0
    kubeconfig: Path | None = None
    context: str | None = None
    nodes: tuple[str, ...] = ()
    plugin_image: str | None = None

    def refuse_options_of_others(self, backend: BackendName) -> None:
        """Raise `UsageError` for what is asked for and makes no sense for a backend."""
        of_kind = {"--kind-config": self.kind_config, "--node-image": self.node_image}
        of_existing = {
            "--kubeconfig": self.kubeconfig,
            "--context": self.context,
            "--nodes": self.nodes,
            "--plugin-image": self.plugin_image,
        }
        others = of_existing if backend == "kind" else of_kind
        given = [option for option, value in others.items() if value]
        if given:
            other = "existing" if backend == "kind" else "kind"
            raise UsageError(
                f"{', '.join(given)}: for the backend {other!r}, and this lab is on {backend!r}",
                remedy="leave it out, or give another lab another --name",
            )
