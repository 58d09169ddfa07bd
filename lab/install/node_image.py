"""Which node image a lab starts from: the user's, else one built here, else kind's own.

Decided before anything is created and within two seconds, because a learner behind a blocked
registry must not wait for a pull that cannot succeed.
"""

import re
from dataclasses import dataclass
from typing import Final

from lab.core import pins
from lab.core.errors import NotReady
from lab.host.docker import Docker, Engine
from lab.images.node import ESTIMATED_TIME, node_image_reference
from lab.install.registry import REGISTRY, can_pull

#: Both kind and the lab name a node image after the Kubernetes in it.
_KUBERNETES: Final = re.compile(r":(v\d+\.\d+\.\d+)(?=[-@]|$)")
_BUILT_HERE: Final = "built on this machine"


@dataclass(frozen=True)
class Choice:
    """An image for the nodes, why this one, and whether the engine has it already."""

    reference: str
    reason: str
    at_hand: bool

    @property
    def is_built_here(self) -> bool:
        """Whether it was built for what this machine has and lacks."""
        return self.reason == _BUILT_HERE

    @property
    def kubernetes(self) -> str:
        """The `v1.N.P` of Kubernetes in the image; empty where its name does not say."""
        found = _KUBERNETES.search(self.reference)
        return found[1] if found else ""


def choose(
    docker: Docker,
    explicit: str | None,
    *,
    engine: Engine | None = None,
    registry: str = REGISTRY,
) -> Choice:
    """Return the image to use. Raises `NotReady` where none is at hand and none can be pulled.

    `engine` is asked of `docker` where nobody has done so yet.
    """
    if explicit and docker.image(explicit):
        return Choice(explicit, "as asked for", at_hand=True)
    engine = engine or docker.engine()
    if explicit:
        # What other registries hold is the engine's to find out: it may know its way there.
        if on_docker_hub(explicit) and not can_pull(engine, registry):
            raise _out_of_reach(f"the node image {explicit} is not on this machine", registry)
        return Choice(explicit, "as asked for, to be pulled", at_hand=False)
    built = node_image_reference(engine)
    if docker.image(built):
        return Choice(built, _BUILT_HERE, at_hand=True)
    if docker.image(pins.KIND_NODE_IMAGE):
        return Choice(pins.KIND_NODE_IMAGE, "kind's default", at_hand=True)
    if can_pull(engine, registry):
        return Choice(pins.KIND_NODE_IMAGE, "kind's default, to be pulled", at_hand=False)
    raise _out_of_reach("there is no node image on this machine", registry)


def on_docker_hub(reference: str) -> bool:
    """Whether an image's name has no registry in it, which makes it one of Docker Hub's."""
    first, slash, _ = reference.partition("/")
    return not slash or not (set(".:") & set(first) or first == "localhost")


def _out_of_reach(what: str, registry: str) -> NotReady:
    return NotReady(
        f"{what}, and the registry to pull one from is out of reach",
        where=registry,
        remedy=f"build the image here, from source ({ESTIMATED_TIME}), or load one and name it",
        commands=("make node-image", "gpulab image build-node", "gpulab up --node-image IMAGE"),
    )
