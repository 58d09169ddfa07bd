"""The kinds that an API server of these tests knows."""

from typing import TYPE_CHECKING, Final, cast

from lab.cluster.connection import Json
from lab.cluster.kinds import Kinds

if TYPE_CHECKING:
    from lab.cluster.connection import Connection

_NAMESPACED: Final = {
    "Pod": True,
    "ConfigMap": True,
    "Namespace": False,
    "ClusterRole": False,
    "PriorityClass": False,
}


class _Discovery:
    @staticmethod
    def get(path: str) -> Json:
        """Return the same kinds for every group and version."""
        del path
        found = [
            {"kind": kind, "name": f"{kind.lower()}s", "namespaced": namespaced}
            for kind, namespaced in _NAMESPACED.items()
        ]
        return {"resources": found}


KINDS: Final = Kinds(cast("Connection", _Discovery()))
