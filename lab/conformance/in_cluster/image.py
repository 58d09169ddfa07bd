"""Sees to it that a node can start somebody's image."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from lab.cluster.kind.nodes import load_image
from lab.install.backend import Image
from lab.install.site import Site

#: The engine's image is put into a node under a name of its content: a tag that was built anew is
#: another image, and one that is there already need not be put there again.
_NAME: Final = "localhost/gpu-lab/conform"
_SHOWN: Final = 12


def provide(backend: str, node: str, reference: str, site: Site) -> Image:
    """Put the engine's image into a node that is a container; any other image the node pulls."""
    found = site.docker.image(reference) if backend == "kind" else None
    if found is None:
        return Image(reference, pulled=True)
    name = f"{_NAME}:{found.id.rpartition(':')[2][:_SHOWN]}"
    with (
        site.progress.step(f"Loading the image {reference}"),
        TemporaryDirectory(prefix="gpulab-") as folder,
    ):
        archive = Path(folder) / "image.tar"
        site.docker.run("tag", reference, name)
        try:
            site.docker.run("save", "--output", str(archive), name)
        finally:
            # The name alone: the image is the user's.
            site.docker.run("rmi", name)
        load_image(site.processes, [node], archive, name)
    return Image(name)
