"""The control API of one node's plugin, called through the API server.

Its errors come back as the lab's, with the plugin's own words for what, where, seen and remedy.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, TypeVar, cast

from pydantic import JsonValue, TypeAdapter, ValidationError

from fake_plugin.errors import WrongUse
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
    "/v1/script": "wait until some have come, or end all with `gpulab inject clear`; nothing was "
    "changed",
    "/v1/cards": "name the one card that is meant by its ID, or add fewer; nothing was changed",
    "/v1/faults": "remove some with `gpulab inject clear RULE`; nothing was changed",
    "/v1/sockets/remove": "wait until it is registered; nothing was changed",
}

Body = Mapping[str, object]
Answer = TypeVar("Answer")


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
    """The API of the plugin in a pod, which is looked for at each call: it may have been replaced.

    Each call is told what it is to be answered with: a class of values, or what reads one. It
    raises `PluginRefused` where the plugin says no, `CheckFailed` where it cannot be asked or makes
    no sense, which is `NodeSilent` where it says nothing, `ApiFailed` where the API server cannot
    be asked, and what `find_pod` raises.
    """

    client: Client
    find_pod: Callable[[], Pod]
    port: int
    token: str = field(repr=False)
    lab: str

    def get(
        self, path: str, answer: type[Answer], query: Mapping[str, str] | None = None
    ) -> Answer:
        """Return what is at a path."""
        return self._call("GET", path, _json(answer), query=query)

    def read(
        self,
        path: str,
        reading: Callable[[bytes], Answer],
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        """Return what is at a path that answers in another format; `reading` raises ValueError."""
        return self._call("GET", path, reading, query=query)

    def post(self, path: str, answer: type[Answer], body: Body | None = None) -> Answer:
        """Have something done; return what came of it."""
        return self._call("POST", path, _json(answer), body=body or {})

    def delete(self, path: str, answer: type[Answer]) -> Answer:
        """Remove what is at a path."""
        return self._call("DELETE", path, _json(answer))

    def _call(
        self,
        method: str,
        path: str,
        reading: Callable[[bytes], Answer],
        query: Mapping[str, str] | None = None,
        body: Body | None = None,
    ) -> Answer:
        pod = self.find_pod()
        asked = tuple((query or {}).items())
        headers = {_HEADER: self.token}
        sent = dict(body) if body is not None else None
        status, content = self.client.call_pod(
            pod, self.port, method, path, asked, sent, headers, who="the device plugin"
        )
        if status >= HTTPStatus.BAD_REQUEST:
            raise self._error(pod, status, path, content)
        try:
            return reading(content)
        except (ValueError, WrongUse) as problem:
            raise CheckFailed(
                "the plugin's answer is not what this gpulab expects",
                where=f"{method} {path} of pod {pod.name}",
                seen=_first_problem(problem),
                remedy="where another version of gpulab made the lab, bring it up to date",
                commands=(f"gpulab up --name {self.lab}",),
            ) from problem

    def _error(self, pod: Pod, status: int, path: str, content: bytes) -> CheckFailed | UsageError:
        match _parsed(content):
            case {"error": {"what": str(what), "where": where, "seen": seen, "remedy": remedy}}:
                pass
            case {"kind": "Status", "message": str(message)}:
                return self._unreachable(pod, message)
            case _:
                return self._unreachable(pod, content.decode(errors="replace")[:200])
        if status == HTTPStatus.UNAUTHORIZED:
            return CheckFailed(
                f"the plugin does not take the lab's token: {what}",
                where=pod.name,
                remedy="give it the token that the lab has; it takes up to two minutes to arrive",
                commands=(f"gpulab up --name {self.lab}",),
            )
        if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return PluginRefused(what, seen=str(seen), status=status, path=path, lab=self.lab)
        return CheckFailed(what, where=str(where), seen=str(seen), remedy=str(remedy))

    def _unreachable(self, pod: Pod, seen: str) -> ApiFailed:
        state = " ".join(filter(None, (pod.phase, pod.waiting)))
        return ApiFailed(
            "the plugin does not answer",
            where=f"pod {pod.name} ({state})",
            seen=seen,
            remedy="see what it says",
            commands=(f"gpulab logs {pod.node} --name {self.lab}",),
        )


def _remedy(status: int, path: str) -> str:
    if status == HTTPStatus.CONFLICT:
        return _CONFLICTS.get(path, _REMEDY)
    return _REMEDIES.get(status, _REMEDY)


def written(answer: object) -> JsonValue:
    """Return an answer as the plugin has given it; what is left out there is so here."""
    adapter = TypeAdapter(type(answer))
    found = adapter.dump_python(answer, mode="json", by_alias=True, exclude_defaults=True)
    return cast("JsonValue", found)


def _parsed(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _json(answer: type[Answer]) -> Callable[[bytes], Answer]:
    """Return what reads such an answer; it raises ValidationError, which is a ValueError."""
    return lambda content: TypeAdapter(answer).validate_json(content, strict=True)


def _first_problem(problem: ValueError | WrongUse) -> str:
    if isinstance(problem, WrongUse):
        return problem.what
    if not isinstance(problem, ValidationError):
        return str(problem)
    first = problem.errors(include_url=False)[0]
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
