"""Whether the plugin image can be had on this machine, asked before a cluster is made for it."""

from lab.host.docker import Docker, Engine
from lab.host.folders import Folders
from lab.images.debian import missing_mmdebstrap
from lab.images.plugin import PYTHON_IMAGE, needs_registry
from lab.install.registry import REGISTRY, can_pull


def require_source(
    docker: Docker,
    folders: Folders,
    *,
    engine: Engine | None = None,
    registry: str = REGISTRY,
) -> None:
    """Raise `NotReady` where the image is not built, and nothing is there to build it from.

    `engine` is asked of `docker` where nobody has done so yet.
    """
    if not needs_registry(folders) or docker.image(PYTHON_IMAGE):
        return
    if not can_pull(engine or docker.engine(), registry):
        raise missing_mmdebstrap(
            "the plugin image cannot be built: there is no mmdebstrap to unpack a Python with, and "
            "the registry that has one is out of reach",
            instead=f"load {PYTHON_IMAGE}",
            where=registry,
        )
