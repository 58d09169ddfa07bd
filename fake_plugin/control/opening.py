"""Makes the control API of a plugin out of its parts."""

from pathlib import Path

from fake_plugin.control.metrics import Metrics
from fake_plugin.control.node import Node
from fake_plugin.control.routes import Routes
from fake_plugin.control.server import ControlServer
from fake_plugin.control.token import TokenFile
from fake_plugin.metrics.endpoint import Endpoint


def open_control(address: str, token_file: Path, node: Node, endpoint: Endpoint) -> ControlServer:
    """Return the server, which has its address and answers once it is started.

    Raises `NotReady` and `WrongUse` for an address or a token that cannot be used.
    """
    routes = Routes(node, TokenFile(token_file), Metrics(endpoint).answer)
    return ControlServer(address, routes.answer)
