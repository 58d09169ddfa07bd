"""Our plugin as the benchmark starts it: its fleet, its command line, its control API."""

import http.client
import json
import os
import secrets
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.node import Node
from lab.core.errors import CheckFailed

RESOURCE: Final = "bench.example.com/device"
NODE: Final = "bench-0"
_HOST: Final = "127.0.0.1"
_DONE: Final = 200


@dataclass(frozen=True)
class Control:
    """The control API of a plugin: where it listens, and the token that it asks for."""

    port: int
    token: str

    def post(self, path: str, body: dict[str, object]) -> None:
        """Ask for a change. Raises `CheckFailed` where it is refused."""
        connection = http.client.HTTPConnection(_HOST, self.port, timeout=10)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            connection.request("POST", path, json.dumps(body), headers)
            answer = connection.getresponse()
            said = answer.read().decode(errors="replace")
        finally:
            connection.close()
        if answer.status != _DONE:
            raise CheckFailed(
                f"the control API answered {answer.status}", where=f"POST {path}", seen=said
            )

    def flap(self, device: str) -> None:
        """Break a device that is healthy, mend one that is not."""
        self.post("/v1/health", {"devices": [device], "becomes": "toggled"})


@dataclass(frozen=True)
class Fleet:
    """What a node gets: `devices` of each of `resources` resources.

    `flap_ms` has the fleet's script flap the first device, with so many milliseconds between.
    """

    devices: int = 8
    resources: int = 1
    flap_ms: int | None = None

    def text(self) -> str:
        """Return the fleet file, as JSON, which is YAML too."""
        document: dict[str, object] = {
            "apiVersion": "gpu-lab/v1",
            "kind": "Fleet",
            "pools": [self._pool(at) for at in range(self.resources)],
        }
        if self.flap_ms is not None:
            flap = {"node": NODE, "device": 0, "becomes": "toggled"}
            document["health"] = {"script": [{"every": f"{self.flap_ms}ms", **flap}]}
        return json.dumps(document)

    def _pool(self, at: int) -> dict[str, object]:
        # The node is called as the first pool calls it: a flap of the script names it so.
        suffix = str(at) if at else ""
        return {
            "name": f"bench{suffix}",
            "nodes": 1,
            "nodeNames": [NODE],
            "resource": f"{RESOURCE}{suffix}",
            "count": self.devices,
        }


def prepare(node: Node, fleet: Fleet) -> tuple[tuple[str, ...], Control]:
    """Write what the plugin reads into the node; return its command line and its control API.

    It serves what it does in a pod of the lab.
    """
    fleet_file, token_file = node.root / "fleet.yaml", node.root / "token"
    control = Control(_free_port(), secrets.token_urlsafe())
    fleet_file.write_text(fleet.text())
    token_file.write_text(control.token)
    options = (
        f"--fleet={fleet_file}",
        f"--node={NODE}",
        f"--device-plugin-dir={node.plugin_dir}",
        f"--state-dir={node.state_dir}",
        f"--health={_HOST}:{_free_port()}",
        f"--control={_HOST}:{control.port}",
        f"--token-file={token_file}",
    )
    return (sys.executable, "-m", "fake_plugin", *options), control


def last_change(state_dir: Path) -> tuple[float, int]:
    """Return when a node's hardware was last changed, as `time.time` has it, and what is broken.

    The plugin writes it down before it tells anybody. The system's clock for files is up to 4 ms
    behind, never ahead.
    """
    with (state_dir / "hardware.json").open("rb") as file:
        return os.fstat(file.fileno()).st_mtime, len(json.load(file)["content"]["broken"])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port
