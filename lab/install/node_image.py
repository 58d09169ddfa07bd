"""Which node image a lab starts from: the user's, else one built here, else kind's own.

Decided before anything is created and within two seconds, because a learner behind a blocked
registry must not wait for a pull that cannot succeed.
"""

import threading
import urllib.error
import urllib.request
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final

from lab.core.errors import NotReady
from lab.host.docker import Docker
from lab.images.node import ESTIMATED_TIME, node_image_reference

#: kind v0.33.0, pkg/apis/config/defaults/image.go.
KIND_DEFAULT: Final = (
    "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5"
)
REGISTRY: Final = "https://registry-1.docker.io/v2/"
_PROBE_SECONDS: Final = 1.2


@dataclass(frozen=True)
class Choice:
    """An image for the nodes, why this one, and whether the engine has it already."""

    reference: str
    reason: str
    at_hand: bool


def choose(docker: Docker, explicit: str | None, *, registry: str = REGISTRY) -> Choice:
    """Return the image to use. Raises `NotReady` where none is at hand and none can be pulled."""
    if explicit:
        return Choice(explicit, "as asked for", docker.image(explicit) is not None)
    engine = docker.engine()
    built = node_image_reference(engine)
    if docker.image(built):
        return Choice(built, "built on this machine", at_hand=True)
    if docker.image(KIND_DEFAULT):
        return Choice(KIND_DEFAULT, "kind's default", at_hand=True)
    # A mirror is the engine's to reach, not ours; where one is set, Docker Hub seldom answers.
    if engine.mirrors or reachable(registry):
        return Choice(KIND_DEFAULT, "kind's default, to be pulled", at_hand=False)
    raise NotReady(
        "there is no node image on this machine, and the registry to pull one from is out of reach",
        where=registry,
        remedy=f"build the image here, from source ({ESTIMATED_TIME}), or load one and name it",
        commands=("make node-image", "gpulab image build-node", "gpulab up --node-image IMAGE"),
    )


def reachable(registry: str) -> bool:
    """Return whether the registry answers at all (a 401 is an answer), within about a second.

    Asked in a thread that is left behind: neither the look-up of the name nor the trial of one
    address after the other, where a firewall swallows packets, keeps to a time of ours.
    """
    answer: SimpleQueue[bool] = SimpleQueue()
    threading.Thread(target=lambda: answer.put(_answers(registry)), daemon=True).start()
    try:
        return answer.get(timeout=_PROBE_SECONDS)
    except Empty:
        return False


def _answers(registry: str) -> bool:
    request = urllib.request.Request(registry, method="HEAD")  # noqa: S310 - a constant of ours
    try:
        with urllib.request.urlopen(request, timeout=_PROBE_SECONDS):  # noqa: S310 - as above
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
