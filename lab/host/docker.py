"""The Docker engine, through the `docker` program.

The program and not its Python SDK: kind runs the program too, so the two always talk to the same
engine. The SDK reads neither Docker contexts (Docker Desktop, Colima, rootless) nor the
program's configuration, and would be a second opinion about which engine is meant.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from lab.core.errors import NotReady, TimedOut
from lab.host.processes import Finished, Processes, ProcessFailed

#: The label by which kind marks the containers of a cluster.
CLUSTER_LABEL = "io.x-k8s.kind.cluster"
#: How long `docker info` may take: it is asked first, so that a hanging engine is seen early.
INFO_SECONDS: Final = 20.0
#: How long other questions may take. Work that has no such limit does not go through `_ask`.
ANSWER_SECONDS: Final = 30.0


@dataclass(frozen=True)
class Engine:
    """What `docker info` says of the engine and its machine, which need not be this one.

    `cgroup_version` is 1 or 2, `memory` in bytes, `host` that machine's host name.
    """

    version: str
    host: str
    memory: int
    cgroup_version: int
    data_root: Path
    mirrors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Image:
    """An image in the engine: its ID, size in bytes and labels."""

    id: str
    size: int
    labels: dict[str, str]


@dataclass(frozen=True)
class Container:
    """A container: name, ID, whether it runs, its labels and where its mounts end."""

    name: str
    id: str
    running: bool
    labels: dict[str, str]
    mounts: dict[str, str]


class Docker:
    """The engine that the `docker` program of this user talks to.

    Its questions (about the engine, images, containers) end within `info_seconds` and
    `answer_seconds`, or in `TimedOut`.
    """

    def __init__(
        self,
        processes: Processes,
        *,
        info_seconds: float = INFO_SECONDS,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self.processes = processes
        self.info_seconds = info_seconds
        self.answer_seconds = answer_seconds

    def run(
        self,
        *arguments: str,
        check: bool = True,
        stdin: IO[bytes] | bytes | None = None,
        stdout: IO[bytes] | None = None,
        timeout: float | None = None,
    ) -> Finished:
        """Run `docker` with these arguments; see `Processes.run`."""
        return self.processes.run(
            ("docker", *arguments), check=check, stdin=stdin, stdout=stdout, timeout=timeout
        )

    def engine(self) -> Engine:
        """Ask the engine about itself.

        Raises `NotReady` where none answers, with the reason; `TimedOut` where one hangs.
        """
        try:
            asked = self._ask("info", "--format", "{{json .}}", seconds=self.info_seconds)
        except NotReady as error:
            raise NotReady(
                "Docker is not installed: the program `docker` cannot be started",
                seen=error.seen,
                remedy="install Docker Engine or Docker Desktop, then ask again",
                commands=("gpulab doctor",),
            ) from error
        facts = _json_object(asked.stdout)
        complaints = facts.get("ServerErrors") or []
        if not asked.ok or complaints or not facts.get("ServerVersion"):
            raise _no_engine("\n".join(complaints) or asked.tail())
        return Engine(
            version=facts["ServerVersion"],
            host=facts.get("Name", ""),
            memory=int(facts.get("MemTotal") or 0),
            cgroup_version=int(facts.get("CgroupVersion") or 1),
            data_root=Path(facts.get("DockerRootDir", "/var/lib/docker")),
            mirrors=tuple((facts.get("RegistryConfig") or {}).get("Mirrors") or ()),
        )

    def image(self, reference: str) -> Image | None:
        """Return an image by name or ID, or None where the engine has none such."""
        found = self._inspect("image", reference)
        if found is None:
            return None
        labels = (found.get("Config") or {}).get("Labels") or {}
        return Image(id=found["Id"], size=found["Size"], labels=labels)

    def container(self, name: str) -> Container | None:
        """Return a container by name or ID, or None where there is none such."""
        found = self._inspect("container", name)
        if found is None:
            return None
        return Container(
            name=found["Name"].lstrip("/"),
            id=found["Id"],
            running=found["State"]["Running"],
            labels=found["Config"]["Labels"] or {},
            mounts={mount["Destination"]: mount["Source"] for mount in found["Mounts"]},
        )

    def cluster_containers(self, cluster: str) -> tuple[Container, ...]:
        """Return the node containers, running or not, of a kind cluster, by name."""
        chosen = f"label={CLUSTER_LABEL}={cluster}"
        listed = self._ask("ps", "-aq", "--filter", chosen, seconds=self.answer_seconds)
        if not listed.ok:
            raise ProcessFailed(listed)
        found = (self.container(each) for each in listed.stdout.split())
        return tuple(sorted((each for each in found if each), key=lambda each: each.name))

    def execute(
        self,
        container: str,
        argv: Sequence[str],
        *,
        check: bool = True,
        stdin: IO[bytes] | bytes | None = None,
        timeout: float | None = None,
    ) -> Finished:
        """Run a command in a running container."""
        interactive = ("-i",) if stdin is not None else ()
        return self.run(
            "exec", *interactive, container, *argv, check=check, stdin=stdin, timeout=timeout
        )

    def _inspect(self, kind: str, name: str) -> dict[str, Any] | None:
        asked = self._ask(kind, "inspect", name, seconds=self.answer_seconds)
        if asked.ok:
            found: dict[str, Any] = json.loads(asked.stdout)[0]
            return found
        # Not just "no such": an engine that is away can be "no such host" or "no such file".
        if f"no such {kind}" in asked.stderr.lower():
            return None
        self.engine()  # Says it better, where the engine itself is what is missing.
        raise ProcessFailed(asked)

    def _ask(self, *arguments: str, seconds: float) -> Finished:
        try:
            return self.run(*arguments, check=False, timeout=seconds)
        except TimedOut as error:
            raise TimedOut(
                "the Docker engine does not answer",
                where=error.where,
                seen=f"no answer within {seconds:g} s",
                remedy="see whether `docker ps` answers; if not, restart Docker Desktop or the "
                "Docker service",
                commands=("docker ps", "sudo systemctl restart docker"),
            ) from error


def _no_engine(seen: str) -> NotReady:
    if "permission denied" in seen.lower():
        return NotReady(
            "this user may not talk to the Docker engine",
            where="docker info",
            seen=seen,
            remedy="add the user to the group docker, log in again, then ask again",
            commands=('sudo usermod -aG docker "$USER"', "gpulab doctor"),
        )
    return NotReady(
        "no Docker engine answers",
        where="docker info",
        seen=seen,
        remedy="start Docker Desktop or the Docker service, then ask again",
        commands=("sudo systemctl start docker", "gpulab doctor"),
    )


def _json_object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
