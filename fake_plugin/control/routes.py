"""Which path does what; who may; and how that which is wrong is told."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Final, TypeAlias

from fake_plugin import events
from fake_plugin.control import cards, faults, health, names, script, view
from fake_plugin.control.body import Body
from fake_plugin.control.exchange import Answer, Json, Request, answer
from fake_plugin.control.node import Node, written
from fake_plugin.control.query import wrong_query
from fake_plugin.control.refusal import Refusal
from fake_plugin.control.token import TokenFile
from fake_plugin.errors import WrongUse
from fake_plugin.log import say
from fake_plugin.shortening import cut

_MOST_LINES: Final = 1000
#: Of a process that was killed, by the kernel where memory has run out.
_KILLED: Final = 137
_MOST_EXIT_CODE: Final = 255

Route: TypeAlias = Callable[[Node, Request], Answer]


def _read(reading: Callable[[Node], Json]) -> Route:
    return lambda node, _: answer(reading(node))


def _told(acting: Callable[[Node, Body], Json]) -> Route:
    """Return a route that changes something by what its body says."""
    return lambda node, request: answer(acting(node, Body.parse(request.body())))


def _journal(node: Node, request: Request) -> Answer:
    for name in request.query:
        if name not in {"since", "limit"}:
            raise wrong_query(name, "is not known: since and limit are", request)
    journal = node.switchboard.journal
    limit = _number(request, "limit", _MOST_LINES, least=1, most=_MOST_LINES)
    lines, following = journal.since(_number(request, "since", 1, least=0), limit)
    return Answer(_journal_pieces(lines, following, journal.open_calls()))


def _journal_pieces(
    lines: list[bytes], following: int, open_calls: Iterable[Json]
) -> Iterable[bytes]:
    yield b'{"calls": ['
    for number, each in enumerate(lines):
        yield b", " * bool(number) + each
    rest = answer({"next": following, "open": [*open_calls]})
    yield b"], " + b"".join(rest.pieces)[1:]


def _number(request: Request, name: str, default: int, *, least: int, most: int = 2**62) -> int:
    text = request.query.get(name, str(default))
    if not text.isdecimal() or len(text) > len(str(most)) or not least <= int(text) <= most:
        raise wrong_query(name, f"must be a whole number from {least} to {most}", request)
    return int(text)


def _remove_fault(node: Node, request: Request) -> Answer:
    return answer(faults.remove(node, request.path.rpartition("/")[2]))


def _remove_socket(node: Node, body: Body) -> Json:
    body.only("resource")
    resource = body.text("resource")
    names.require_resource(node.inventory, resource)
    with written("the kubelet's folder of sockets"):
        removed = node.remove_socket(resource)
    if not removed:
        raise Refusal(
            HTTPStatus.CONFLICT,
            f"{resource} has no socket at the moment",
            remedy="wait until it is registered; nothing was changed",
        )
    return {"removed": resource}


def _crash(node: Node, request: Request) -> Answer:
    """Have the plugin end as if it were killed: nothing is tidied up, and no stream is ended."""
    body = Body.parse(request.body())
    body.only("exitCode")
    code = body.number("exitCode", least=0, most=_MOST_EXIT_CODE, default=_KILLED)
    return replace(answer({"exitCode": code}), afterwards=lambda: node.end(code))


def _clear(node: Node, _: Request) -> Answer:
    # The flaps first, or one of them would break again what is mended here.
    flaps = node.script.clear()
    with written("the state of the hardware"):
        node.inventory.board.clear()
    rules = node.switchboard.book.clear()
    plan = node.inventory.plan
    sticky = any(plan.is_sticky(share) for share in plan.shares)
    return answer({"rules": rules, "flaps": flaps, "sticky": sticky})


def _alive(node: Node) -> Answer:
    # Who restarts what is not well would not help a plugin whose kubelet is away.
    return answer({"node": node.inventory.node})


def _ready(node: Node) -> Answer:
    if missing := node.readiness.missing:
        raise Refusal(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "the kubelet does not watch every resource",
            where=node.inventory.node,
            seen=f"not watched: {', '.join(missing)}",
            remedy="wait until they are registered; the plugin's log says what it waits for",
        )
    return answer({"node": node.inventory.node, "ready": True})


#: By path, then by method; `*` stands for the last part, whatever it is.
ROUTES: Final[Mapping[str, Mapping[str, Route]]] = {
    "/v1/node": {"GET": lambda node, _: view.view(node)},
    "/v1/health": {"POST": _told(health.change)},
    "/v1/script": {"POST": _told(script.play)},
    "/v1/cards": {"POST": _told(cards.change)},
    "/v1/faults": {
        "GET": _read(lambda node: {"faults": faults.listed(node)}),
        "POST": _told(faults.add),
        "DELETE": _read(faults.clear),
    },
    "/v1/faults/*": {"DELETE": _remove_fault},
    "/v1/sockets/remove": {"POST": _told(_remove_socket)},
    "/v1/crash": {"POST": _crash},
    "/v1/journal": {"GET": _journal},
    "/v1/clear": {"POST": _clear},
}
#: What anyone may ask; who looks whether a plugin is well has no token.
_OPEN: Final = ("/healthz", "/readyz", "/metrics")


class Routes:
    """Answers calls about a node; `metrics` those of Prometheus, which anyone may make."""

    def __init__(self, node: Node, token: TokenFile, metrics: Callable[[Request], Answer]) -> None:
        self._node = node
        self._token = token
        self._metrics = metrics

    def answer(self, request: Request) -> Answer:
        """Return the answer to a call; raises `Refusal`."""
        if request.path in _OPEN:
            _require_method(request, {"GET"})
            return self._open(request)
        self._token.require(request.authorization, request.token)
        route = _route(request)
        if request.method == "GET":
            return route(self._node, request)
        with self._node.turn:
            done = _checked(route, self._node, request)
        say(events.COMMANDED, call=f"{request.method} {request.path}")
        return done

    def _open(self, request: Request) -> Answer:
        if request.path == "/metrics":
            return self._metrics(request)
        return _alive(self._node) if request.path == "/healthz" else _ready(self._node)


def _checked(route: Route, node: Node, request: Request) -> Answer:
    try:
        return route(node, request)
    except WrongUse as problem:
        raise Refusal(
            HTTPStatus.BAD_REQUEST,
            problem.what,
            where=problem.where,
            seen=problem.seen,
            remedy=problem.remedy,
        ) from problem


def _route(request: Request) -> Route:
    parent = request.path.rpartition("/")[0]
    found = ROUTES.get(request.path) or ROUTES.get(f"{parent}/*")
    if found is None:
        raise Refusal(
            HTTPStatus.NOT_FOUND,
            f"there is nothing at {cut(request.path)}",
            seen=f"paths that there are: {', '.join((*ROUTES, *_OPEN))}",
        )
    _require_method(request, found)
    return found[request.method]


def _require_method(request: Request, allowed: Iterable[str]) -> None:
    if request.method not in allowed:
        raise Refusal(
            HTTPStatus.METHOD_NOT_ALLOWED,
            f"{cut(request.path)} does not take {request.method}",
            seen=f"methods that it takes: {', '.join(allowed)}",
        )
