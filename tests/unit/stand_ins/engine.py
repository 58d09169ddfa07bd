"""The engine behind the `docker` on a test's PATH: what is in it, and what happens to it."""

import fcntl
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.cluster.kind.config import OWNER_MOUNT
from tests.unit.stand_ins import docker_program, kind_program

#: As `docker inspect` prints one.
Container = dict[str, Any]

INFO = {
    "ServerVersion": "29.1.0",
    "Name": "machine",
    "MemTotal": 8 << 30,
    "CgroupVersion": "2",
    "DockerRootDir": "/",
    "ServerErrors": None,
}
EMPTY: dict[str, Any] = {
    "info": INFO,
    "containers": [],
    "images": {},
    "away": "",
    "stubborn": "",
    "broken": [],
    "late": [],
    "calls": [],
    "sent": {},
    "without_kubelet": [],
}
#: What a test's PATH gets under these names. Docker's starts without packages, as it is run often.
DOCKER = f'exec {sys.executable} -IS {docker_program.__file__} "$@"'
KIND = f'exec {sys.executable} {kind_program.__file__} "$@"'


@dataclass(frozen=True)
class FakeEngine:
    """An engine that is a file; `labs` is the state folder of the labs that run in it."""

    file: Path
    labs: Path

    def node(
        self, name: str, *, cluster: str = "t-lab", mark: str | None = None, running: bool = True
    ) -> Container:
        """Return a node's container; its `mark` is that of the lab of the cluster's name."""
        role = "control-plane" if name.endswith("control-plane") else "worker"
        source = f"{self.labs}/{cluster}/node" if mark is None else mark
        own = [{"Source": source, "Destination": OWNER_MOUNT}] if source else []
        return {
            "Id": f"id-{name}",
            "Name": f"/{name}",
            "State": {"Running": running},
            "Config": {"Labels": {"io.x-k8s.kind.cluster": cluster, "io.x-k8s.kind.role": role}},
            "Mounts": [{"Source": "/var/lib/docker/volumes/x", "Destination": "/var"}, *own],
        }

    def nodes(self, *suffixes: str) -> list[Container]:
        """Return the nodes of the lab `t-lab`: by default a control plane and a worker."""
        return [self.node(f"t-lab-{each}") for each in suffixes or ("control-plane", "worker")]

    def set(self, **changes: object) -> None:
        """Change parts of its state, between two calls of the program; see `docker_program`."""
        with self.file.open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            state = json.load(file) | changes
            file.seek(0)
            json.dump(state, file)
            file.truncate()

    def state(self) -> dict[str, Any]:
        """Return all of its state."""
        state: dict[str, Any] = json.loads(self.file.read_text(encoding="utf-8"))
        return state

    def names(self) -> list[str]:
        """Return the names of its containers."""
        return [each["Name"].lstrip("/") for each in self.state()["containers"]]

    def calls(self, command: str) -> list[str]:
        """Return how a command of `docker` was called."""
        return [call for call in self.state()["calls"] if call.startswith(command)]
