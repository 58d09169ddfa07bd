"""A node of two pools, and calls of its control API without a server between."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from fake_plugin.control.exchange import Answer, Request
from fake_plugin.control.metrics import Metrics
from fake_plugin.control.node import Node
from fake_plugin.control.refusal import Refusal
from fake_plugin.control.routes import Routes
from fake_plugin.control.server import ControlServer
from fake_plugin.control.token import TokenFile
from fake_plugin.hardware.accelerator import Accelerator
from fake_plugin.hardware.script import Script
from fake_plugin.metrics.endpoint import Endpoint
from fake_plugin.plan import Plan, Share
from fake_plugin.resources.inventory import Inventory
from fake_plugin.serving.interceptor import Switchboard
from fake_plugin.serving.readiness import Readiness
from tests.unit.fake_plugin.control.callers import Serve, echo

TOKEN = "0123456789abcdef"  # noqa: S105 - of a node that is none
GPU = "nvidia.com/gpu"
PLAIN = "example.com/device"
H100 = Accelerator("nvidia-h100-sxm-80gb", "nvidia", "NVIDIA H100 80GB HBM3", 81559, 700)
SHARES = (
    Share("nvidia", "nvidia-0", 3, accelerator=H100, numa=(0, 0, 1)),
    Share("plain", "plain-0", 2, resource=PLAIN),
)


@dataclass(frozen=True)
class Told:
    """An answer: its status, and its body as JSON."""

    status: int
    body: Any

    @property
    def what(self) -> str:
        """Return what is wrong."""
        return str(self.body["error"]["what"])


Call = Callable[..., Told]


@dataclass
class Sockets:
    """What stands for the sockets of the node's resources."""

    there: set[str]

    def remove(self, resource: str) -> bool:
        """Remove the socket of a resource."""
        was_there = resource in self.there
        self.there.discard(resource)
        return was_there


@pytest.fixture
def plan() -> Plan:
    """Return what the fleet gives to the node."""
    return Plan(SHARES)


@pytest.fixture
def sockets() -> Sockets:
    """Return the sockets, of which one is not there."""
    return Sockets({GPU})


@pytest.fixture
def ended() -> list[int]:
    """Return the exit codes that the plugin would have ended with."""
    return []


@pytest.fixture
def node(plan: Plan, sockets: Sockets, ended: list[int], tmp_path: Path) -> Iterator[Node]:
    """Return a node with three GPUs and two plain devices."""
    inventory = Inventory.load(tmp_path, "worker", plan)
    script = Script(inventory.board)
    script.start()
    readiness = Readiness([GPU, PLAIN])
    yield Node(inventory, Switchboard(), script, readiness, sockets.remove, ended.append)
    script.stop()


@pytest.fixture
def routes(node: Node, tmp_path: Path) -> Routes:
    """Return the API of the node."""
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    return Routes(node, TokenFile(file), Metrics(Endpoint(node.inventory)).answer)


@pytest.fixture
def call(routes: Routes) -> Call:
    """Return what calls the API with a body, by default as one who may."""

    def told(method: str, path: str, body: object = None, token: str = TOKEN) -> Told:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        parts = urlsplit(path)
        query = dict(parse_qsl(parts.query))
        request = Request(method, parts.path, query, "", token, lambda: data)
        try:
            answer = routes.answer(request)
        except Refusal as refusal:
            return Told(refusal.status, refusal.as_json())
        told = Told(HTTPStatus(answer.status), json.loads(b"".join(answer.pieces)))
        answer.afterwards()
        return told

    return told


def broken(node: Node) -> dict[str, str]:
    """Return what is broken, by pool and index of its card."""
    state = node.inventory.board.state
    cards = {
        card.uid: card
        for share in node.inventory.plan.shares
        for card in node.inventory.every_card(share)
    }
    named = {uid: f"{card.pool}/{card.index}" for uid, card in cards.items()}
    return {named[unit]: str(each) for unit, each in state.broken.items()}


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Return what starts a server on loopback; all are stopped in the end."""
    with ExitStack() as stack:

        def start(
            answering: Callable[[Request], Answer] = echo,
            seconds: tuple[float, float] = (5.0, 30.0),
            host: str = "127.0.0.1",
        ) -> ControlServer:
            server = ControlServer(f"{host}:0", answering, *seconds)
            stack.callback(server.stop)
            server.start()
            return server

        yield start
