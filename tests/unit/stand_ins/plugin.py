"""The control API of a node's plugin, the real one, without a process or a server around it."""

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from fake_plugin.control.exchange import Request
from fake_plugin.control.metrics import Metrics
from fake_plugin.control.node import Node
from fake_plugin.control.refusal import Refusal
from fake_plugin.control.routes import Routes
from fake_plugin.control.token import TokenFile
from fake_plugin.hardware.script import Script
from fake_plugin.metrics.endpoint import Endpoint
from fake_plugin.plan import Plan
from fake_plugin.resources.inventory import Inventory
from fake_plugin.serving.interceptor import Switchboard
from fake_plugin.serving.readiness import Readiness

TOKEN = "of-the-lab-0123456789"  # noqa: S105 - of a lab that is none


class Plugin:
    """A node with what a plan gives to it; `node` is what the API acts on.

    It goes on where a process would have ended, with these exit codes in `ended`.
    """

    def __init__(self, name: str, plan: Plan, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "token").write_text(TOKEN)
        inventory = Inventory.load(folder, name, plan)
        names = [resource.name for resource in inventory.resources]
        readiness = Readiness(names)
        for each in names:
            readiness.set_ready(each, ready=True)
        script = Script(inventory.board)
        self.ended: list[int] = []
        self.node = Node(inventory, Switchboard(), script, readiness, bool, end=self.ended.append)
        metrics = Metrics(Endpoint(inventory))
        self._routes = Routes(self.node, TokenFile(folder / "token"), metrics.answer)

    def ask(self, method: str, path: str) -> bytes:
        """Return what is answered to a call with the right token, and no body."""
        return self.answer(method, path, {"X-Gpulab-Token": TOKEN}, b"")[1]

    def answer(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, bytes]:
        """Answer as over HTTP."""
        parts = urlsplit(path)
        request = Request(
            method,
            parts.path,
            dict(parse_qsl(parts.query)),
            headers.get("Authorization", ""),
            headers.get("X-Gpulab-Token", ""),
            lambda: body,
        )
        try:
            found = self._routes.answer(request)
        except Refusal as refusal:
            return int(refusal.status), json.dumps(refusal.as_json()).encode()
        content = b"".join(found.pieces)
        found.afterwards()
        return int(found.status), content
