"""A kind cluster that belongs to a lab: create it, find its nodes, take it away.

What `up` may touch and `down` may delete is decided here: only nodes that carry the lab's mark
(see `lab.cluster.kind.config`) and belong to this state folder, never a cluster that happens to
have the same name, be it another user's lab.
"""

import time
from dataclasses import dataclass
from typing import Final

import yaml

from lab.cluster.kind.config import OWNER_MOUNT, KindConfig, workers
from lab.cluster.kind.program import Kind
from lab.cluster.kind.removal import remove
from lab.cluster.record import LabFolder
from lab.core.errors import CleanUpFailed, NotReady
from lab.core.progress import Step
from lab.host.docker import Container, Docker
from lab.host.processes import Processes, ProcessFailed

_ROLE_LABEL: Final = "io.x-k8s.kind.role"
#: An engine goes on creating a container whose `docker run` was ended, and shows it only when it
#: is there: an interrupted kind is ended at once, its `docker run` is not.
_DOCKER_RUN_SECONDS: Final = 30.0
#: Where that was not enough: look again.
_LATE_CONTAINERS_SECONDS: Final = 1.0
_DELETE_ROUNDS: Final = 4
#: What Docker Desktop puts before the paths of the machine that it runs on.
_DOCKER_DESKTOP: Final = "/host_mnt"
_LOOK_SECONDS: Final = 0.3


@dataclass(frozen=True)
class KindCluster:
    """The cluster of one lab, whether it exists or not."""

    name: str
    docker: Docker
    folder: LabFolder

    def containers(self) -> tuple[Container, ...]:
        """Return the nodes' containers by name, running or not.

        Raises `NotReady` where the cluster of that name was made by someone else.
        """
        found = self.docker.cluster_containers(self.name)
        foreign = [each.name for each in found if not self._owns(each)]
        if foreign:
            raise NotReady(
                f"there is a kind cluster {self.name!r} that this gpu-lab did not make",
                where=", ".join(foreign),
                remedy="give the lab another name, or delete that cluster yourself",
                commands=(
                    "gpulab up --name another-name",
                    f"kind delete cluster --name {self.name}",
                ),
            )
        return found

    def _owns(self, container: Container) -> bool:
        mark = str(self.folder.owner_mark)
        return container.mounts.get(OWNER_MOUNT) in (mark, f"{_DOCKER_DESKTOP}{mark}")

    def workers(self) -> tuple[str, ...]:
        """Return the names of the worker nodes in the order of the configuration."""
        found = (each.name for each in self.containers() if _role(each) == "worker")
        return tuple(sorted(found, key=lambda name: (len(name), name)))

    def workers_of(self, config: KindConfig) -> tuple[str, ...]:
        """Return the names that kind is going to give to the workers of a configuration."""
        names = (f"{self.name}-worker{number}" for number in range(2, workers(config) + 1))
        return (f"{self.name}-worker", *names) if workers(config) else ()

    def create(
        self, kind: Kind, processes: Processes, config: KindConfig, image: str, step: Step
    ) -> None:
        """Create the cluster with a kubeconfig of its own; the user's is never touched."""
        self.folder.write_text(self.folder.kind_config, yaml.safe_dump(config, sort_keys=False))
        identity = ("--name", self.name, "--image", image)
        files = ("--config", self.folder.kind_config, "--kubeconfig", self.folder.kubeconfig)
        command = (kind.path, "create", "cluster", *identity, *files)
        try:
            processes.run(
                command,
                on_line=lambda line: step.update(_plain(line)),
                patience=_DOCKER_RUN_SECONDS,
            )
        except ProcessFailed as error:
            raise ProcessFailed(error.finished, "kind could not create the cluster") from error
        self.folder.kubeconfig.chmod(0o600)

    def wait_until_it_shows(self) -> None:
        """Wait until there is a container of it, which kind makes after all that can take long.

        Without a limit: who waits beside `create` is ended with it, by `Processes.cancel`.
        """
        while not self.containers():
            time.sleep(_LOOK_SECONDS)

    def delete(self, *, just_interrupted: bool = False) -> None:
        """Remove the nodes' containers with their volumes; raises `CleanUpFailed`.

        Without kind, whose deletion would also want to edit a kubeconfig, and which may be gone.
        After an interrupted creation a container may appear late, so it looks once more.
        """
        for _ in range(_DELETE_ROUNDS):
            if just_interrupted:
                time.sleep(_LATE_CONTAINERS_SECONDS)
            found = self.containers()
            if not found:
                return
            removed = remove(self.docker, found)
        names = [each.name for each in found]
        raise CleanUpFailed(
            "containers of the lab could not be removed",
            where=", ".join(names),
            seen=removed.tail(),
            commands=(f"docker rm -f -v {' '.join(names)}",),
        )


def _role(container: Container) -> str:
    return container.labels.get(_ROLE_LABEL, "")


def _plain(line: str) -> str:
    """Return kind's progress line without its marks and pictures."""
    kept = line.encode("ascii", "ignore").decode()
    return kept.strip(" .•✓")
