"""The plugin image built by the engine upon Python's own image, for hosts without mmdebstrap."""

from typing import Final

from lab.host.docker import Docker
from lab.host.processes import Processes, ProcessFailed
from lab.images.debian import missing_mmdebstrap
from lab.images.plugin.base import PYTHON
from lab.images.plugin.contents import compile_arguments, lay_out
from lab.images.store import Making, Part, ran_out_of_space

#: The image that is built upon.
PYTHON_IMAGE: Final = f"python:{PYTHON}-slim-bookworm"
_SITE: Final = f"/usr/local/lib/python{PYTHON}/site-packages"


def dockerfile(entrypoint: str, environment: dict[str, str]) -> str:
    """Return the recipe; `entrypoint` is a JSON list."""
    variables = " ".join(f"{name}={value}" for name, value in environment.items())
    return (
        f"FROM {PYTHON_IMAGE}\n"
        f"COPY site {_SITE}\n"
        f"RUN python3 {' '.join(compile_arguments(_SITE))}\n"
        f"ENV {variables}\n"
        f"ENTRYPOINT {entrypoint}\n"
    )


def build(
    making: Making, reference: str, recipe: str, wheels: Part, plugin: dict[str, bytes]
) -> None:
    """Write `image.tar` into the product; the engine is left as it was found."""
    docker = Docker(making.processes)
    context = making.scratch / "context"
    context.mkdir()
    lay_out(making, wheels, plugin, context / "site")
    (context / "Dockerfile").write_text(recipe)
    had_base = docker.image(PYTHON_IMAGE) is not None
    try:
        docker.run("build", "--force-rm", "--tag", reference, str(context))
        with (making.folder / "image.tar").open("wb") as archive:
            docker.run("save", reference, stdout=archive)
    except ProcessFailed as error:
        if ran_out_of_space(error):
            raise
        raise missing_mmdebstrap(
            "there is nothing to build the plugin image upon: neither the program mmdebstrap nor "
            f"the image {PYTHON_IMAGE}",
            instead="let Docker reach a registry",
            where=error.where,
            seen=error.seen,
        ) from error
    finally:
        _remove(reference, *(() if had_base else (PYTHON_IMAGE,)))


def _remove(*references: str) -> None:
    # Processes of our own: those of the build start nothing more once they are cancelled.
    docker = Docker(Processes())
    for each in references:
        docker.run("image", "rm", "--force", each, check=False)
