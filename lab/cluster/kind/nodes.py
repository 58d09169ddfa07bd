"""What is done to the nodes of a kind cluster from outside of Kubernetes."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from lab.host.docker import Docker
from lab.host.processes import Processes
from lab.host.side_by_side import side_by_side

_IMPORT: Final = (
    "ctr",
    "--namespace=k8s.io",
    "images",
    "import",
    "--all-platforms",
    "--digests",
    "--snapshotter=overlayfs",
    "-",
)


def load_image(processes: Processes, nodes: Sequence[str], archive: Path) -> None:
    """Stream an image archive into the container runtimes of all nodes at once."""
    docker = Docker(processes)

    def load(node: str) -> None:
        with archive.open("rb") as stream:
            docker.execute(node, _IMPORT, stdin=stream)

    with side_by_side(processes) as start:
        for each in [start(partial(load, node)) for node in nodes]:
            each.result()
