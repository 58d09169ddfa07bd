"""Which lab is on a cluster: there can be one only, and it is known by its token."""

from base64 import b64decode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from lab.install.deployment import CONTROL_SECRET, TOKEN_KEY
from lab.install.rollout import NAMESPACE

if TYPE_CHECKING:
    from lab.cluster.client import Client

_SECRET: Final = f"/api/v1/namespaces/{NAMESPACE}/secrets/{CONTROL_SECRET}"


@dataclass(frozen=True)
class Occupant:
    """The lab that is on a cluster: the token of its plugins, and since when it is there."""

    token: str = field(repr=False)
    since: str


def occupant(client: "Client") -> Occupant | None:
    """Return the lab that is on a cluster, None where there is none."""
    from lab.cluster.connection import ApiFailed  # noqa: PLC0415 - loads the client library

    try:
        found = client.connection.get(_SECRET)
    except ApiFailed as error:
        if error.is_missing:
            return None
        raise
    token = b64decode(found["data"][TOKEN_KEY]).decode()
    return Occupant(token, str(found["metadata"].get("creationTimestamp", "")))
