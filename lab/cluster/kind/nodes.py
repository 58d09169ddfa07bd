"""What is done to the nodes of a kind cluster from outside of Kubernetes."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from lab.core.errors import TimedOut
from lab.host.docker import Docker
from lab.host.processes import Processes
from lab.host.side_by_side import side_by_side

_IMAGES: Final = ("ctr", "--namespace=k8s.io", "images")
_LIST: Final = (*_IMAGES, "ls", "--quiet")
_IMPORT: Final = (
    *_IMAGES,
    "import",
    # By ctr itself and not by containerd's transfer service, which takes twice as long.
    "--local",
    "--all-platforms",
    "--digests",
    "--snapshotter=overlayfs",
    "-",
)
_BOOT_SECONDS: Final = 120
_LOOK_SECONDS: Final = 0.3


def wait_for_runtimes(processes: Processes, nodes: Sequence[str]) -> None:
    """Wait until the runtimes of all nodes answer: seconds after a node's container has started.

    That is long before Kubernetes runs on the node, so what is wanted there can be loaded
    meanwhile. Raises `TimedOut`.
    """
    docker = Docker(processes)
    ends = time.monotonic() + _BOOT_SECONDS
    for node in nodes:
        while not (asked := docker.execute(node, ("ctr", "version"), check=False)).ok:
            if time.monotonic() > ends:
                raise TimedOut(
                    f"the container runtime of a node did not answer within {_BOOT_SECONDS} s",
                    where=node,
                    seen=asked.tail(),
                    commands=(f"docker logs {node}",),
                )
            time.sleep(_LOOK_SECONDS)


def load_image(processes: Processes, nodes: Sequence[str], archive: Path, reference: str) -> None:
    """Stream an image archive into all nodes at once, but for those that have the image."""
    docker = Docker(processes)

    def load(node: str) -> None:
        listed = docker.execute(node, (*_LIST, f"name=={reference}"))
        if not listed.stdout.strip():
            with archive.open("rb") as stream:
                docker.execute(node, _IMPORT, stdin=stream)

    with side_by_side(processes) as start:
        for each in [start(partial(load, node)) for node in nodes]:
            each.result()
