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


@dataclass(frozen=True)
class Choice:
    """An image for the nodes, why this one, and whether the engine has it already."""

    reference: str
    reason: str
    at_hand: bool

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
    if explicit:
        return Choice(explicit, "as asked for", docker.image(explicit) is not None)
    engine = engine or docker.engine()
    built = node_image_reference(engine)
    if docker.image(built):
        return Choice(built, "built on this machine", at_hand=True)
    if docker.image(pins.KIND_NODE_IMAGE):
        return Choice(pins.KIND_NODE_IMAGE, "kind's default", at_hand=True)
    if can_pull(engine, registry):
        return Choice(pins.KIND_NODE_IMAGE, "kind's default, to be pulled", at_hand=False)
    raise NotReady(
        "there is no node image on this machine, and the registry to pull one from is out of reach",
        where=registry,
        remedy=f"build the image here, from source ({ESTIMATED_TIME}), or load one and name it",
        commands=("make node-image", "gpulab image build-node", "gpulab up --node-image IMAGE"),
    )
