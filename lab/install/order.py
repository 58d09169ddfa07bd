"""What the user asks of `gpulab up`, or of a run that makes labs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from lab.cluster.record import BackendName
from lab.core.fleet import Fleet


@dataclass(frozen=True)
class Order:
    """A lab by its name, and what is to be in it.

    `timeout` bounds the wait for devices, in seconds. On kind, `found_config` is the configuration
    that is used where no `kind_config` is asked for, and a new cluster has at least that many
    `workers`, for fleets that are to come. For a cluster that is there: a kubeconfig, one of its
    contexts, the nodes that the lab may have, and where the plugin's image is pulled from.

    `called` says by what the user has asked, or could, where it is not `gpulab`'s option of that
    name: errors name what was written.
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
    called: Mapping[str, str] = field(default_factory=dict)

    def call(self, option: str) -> str:
        """Return by what an option is asked for; for `node-image` that is `--node-image`."""
        return self.called.get(option, f"--{option}")

    def made_of(self, backend: BackendName) -> tuple[str, ...]:
        """Return by what it is asked for that a new lab on this backend alone could have."""
        of_kind = {"kind-config": self.kind_config, "node-image": self.node_image}
        of_existing = {
            "kubeconfig": self.kubeconfig,
            "context": self.context,
            "nodes": self.nodes,
            "plugin-image": self.plugin_image,
        }
        options = of_kind if backend == "kind" else of_existing
        return tuple(self.call(option) for option, value in options.items() if value)

    def asks_for(self, backend: BackendName) -> tuple[str, ...]:
        """Return by what it is asked that the lab be on this backend, and on no other."""
        said = (f"{self.call('backend')} {backend}",) if self.backend == backend else ()
        return (*said, *self.made_of(backend))
