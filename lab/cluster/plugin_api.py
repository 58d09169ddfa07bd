"""The control API of one node's plugin, called through the API server.

Its errors come back as the lab's, with the plugin's own words for what, where, seen and remedy.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from lab.cluster.client import Client
from lab.cluster.connection import ApiFailed
from lab.cluster.objects import Pod
from lab.core.errors import CheckFailed, UsageError

#: The server's proxy does not pass `Authorization` on.
_HEADER: Final = "X-Gpulab-Token"

#: What whoever typed a command can do, by the status of the refusal: the API's own remedies are for
#: whoever calls it over HTTP.
_REMEDIES: Final[Mapping[int, str]] = {
    HTTPStatus.NOT_FOUND: "name what is there; nothing was changed",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "name fewer at a time, or all; nothing was changed",
}
_REMEDY: Final = "correct the command; nothing was changed"
#: Where something is in the way, by the path of the call.
_CONFLICTS: Final = {
    "/v1/health": "name the one device that is meant by its ID; where there are too many flaps, "
    "wait until one has ended, or end all with `gpulab inject clear`; nothing was changed",
    "/v1/cards": "name the one card that is meant by its ID, or add fewer; nothing was changed",
    "/v1/faults": "remove some with `gpulab inject clear RULE`; nothing was changed",
    "/v1/sockets/remove": "wait until it is registered; nothing was changed",
}

Json = dict[str, Any]


class PluginRefused(UsageError):
    """The plugin does not do what it was asked: it does not know a name, or a rule is broken.

    Nothing has changed on its node. `missing` says that it knows of no such thing at all. What is
    wrong and what was seen are in the plugin's words; what to do is in those of `gpulab inject`.
    """

    def __init__(self, what: str, *, seen: str, status: int, path: str, lab: str) -> None:
        super().__init__(
            what,
            seen=seen,
            remedy=_remedy(status, path),
            commands=(f"gpulab inject list --name {lab}",),
        )
        self.missing = status == HTTPStatus.NOT_FOUND


@dataclass(frozen=True)
class PluginApi:
    """The API of the plugin in a pod.

    Every call raises `PluginRefused` where the plugin says no, `CheckFailed` where it cannot be
    asked, and `ApiFailed` where the API server cannot be.
    """

    client: Client
    pod: Pod
    port: int
    token: str
    lab: str

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Json:
        """Return what is at a path."""
        return self._call("GET", path, query=query)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Json:
        """Have something done; return what came of it."""
        return self._call("POST", path, body=body or {})

    def delete(self, path: str, name: str = "") -> Json:
        """Remove what is at a path, or the thing of that name there."""
        return self._call("DELETE", f"{path}/{quote(name, safe='')}" if name else path)

    def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Json:
        status, content = self.client.call_pod(
            self.pod,
            self.port,
            method,
            path,
            tuple((query or {}).items()),
            body,
            {_HEADER: self.token},
        )
        found = _parsed(content)
        if status < HTTPStatus.BAD_REQUEST and found is not None:
            return found
        raise self._error(status, path, found, content)

    def _error(
        self, status: int, path: str, found: Json | None, content: bytes
    ) -> CheckFailed | UsageError:
        match found:
            case {"error": {"what": str(what), "where": where, "seen": seen, "remedy": remedy}}:
                pass
            case {"kind": "Status", "message": str(message)}:
                return self._unreachable(message)
            case _:
                return self._unreachable(content.decode(errors="replace")[:200])
        if status == HTTPStatus.UNAUTHORIZED:
            return CheckFailed(
                f"the plugin does not take the lab's token: {what}",
                where=self.pod.name,
                remedy="give it the token that the lab has; it takes up to two minutes to arrive",
                commands=(f"gpulab up --name {self.lab}",),
            )
        if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return PluginRefused(what, seen=seen, status=status, path=path, lab=self.lab)
        return CheckFailed(what, where=where, seen=seen, remedy=remedy)

    def _unreachable(self, seen: str) -> ApiFailed:
        state = " ".join(filter(None, (self.pod.phase, self.pod.waiting)))
        return ApiFailed(
            "the plugin does not answer",
            where=f"pod {self.pod.name} ({state})",
            seen=seen,
            remedy="see what it says",
            commands=(f"gpulab logs {self.pod.node} --name {self.lab}",),
        )


def _remedy(status: int, path: str) -> str:
    if status == HTTPStatus.CONFLICT:
        return _CONFLICTS.get(path, _REMEDY)
    return _REMEDIES.get(status, _REMEDY)


def _parsed(content: bytes) -> Json | None:
    try:
        found = json.loads(content)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
