"""What a test does to a node as a machine, and how that is undone."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.cluster.connection import MERGE
from lab.cluster.kubelet_config import FILE
from lab.core.errors import CheckFailed, TimedOut
from lab.core.fleet import Fleet
from lab.harness.afterwards import Afterwards
from lab.harness.machine import Machine
from lab.host.processes import Finished
from tests.unit.harness.cluster import GPU, Cluster

if TYPE_CHECKING:
    from lab.install.status import RunningLab

BEFORE = "topologyManagerPolicy: none\n"


@dataclass
class Here:
    """A node whose commands run on this machine, and whose kubelet restarts at once."""

    configuration: Path
    started_with: list[str] = field(default_factory=list)
    registered: bool = True
    away: bool = False

    def run(self, node: str, command: Sequence[str], *, check: bool = True) -> Finished:
        """Run a command."""
        del node
        here = [str(self.configuration) if each == FILE else each for each in command]
        ended = subprocess.run(here, capture_output=True, text=True, check=check)
        return Finished(tuple(here), ended.returncode, ended.stdout, ended.stderr, 0.0)

    def facts(self) -> object:
        """Say what its plugin says, if it does."""
        if self.away:
            raise CheckFailed("the plugin does not answer", seen="Connection refused")
        resource = SimpleNamespace(name=GPU, registered=self.registered)
        return SimpleNamespace(ready=self.registered, resources=(resource,))


class Restarted(Machine):
    """A machine whose kubelet reads its configuration, and no more."""

    def restart_kubelet(self) -> None:
        """Note what the kubelet reads."""
        access: Any = self.access
        access.started_with.append(access.configuration.read_text())

    @property
    def reading(self) -> Any:  # noqa: ANN401 - stands for a plugin
        """Return its plugin."""
        return self.access


class Stopped(Machine):
    """A machine whose kubelet can be stopped and started, of which nothing comes."""

    def stop_kubelet(self) -> None:
        """Do nothing, well."""

    def start_kubelet(self) -> None:
        """Do nothing, well."""


@pytest.fixture
def here(tmp_path: Path) -> Here:
    """Return a node with a configuration."""
    file = tmp_path / "config.yaml"
    file.write_text(BEFORE)
    return Here(file)


@pytest.fixture
def machine(cluster: Cluster, here: Here) -> Machine:
    """Return that node as a test has it."""
    running: Any = SimpleNamespace(access=here, record=SimpleNamespace(name="t"))
    return Restarted(cast("RunningLab", running), cluster.view, Afterwards(), "w", ())


def test_a_kubelet_starts_with_a_setting_and_then_without(machine: Machine, here: Here) -> None:
    """However often it was set: the configuration of before is back, and read."""
    with machine.afterwards:
        machine.configure_kubelet(topologyManagerPolicy="restricted")
        machine.configure_kubelet(topologyManagerPolicy="best-effort")
    said = [each.removeprefix("topologyManagerPolicy: ").strip() for each in here.started_with]
    assert said == ["restricted", "best-effort", "none"]
    assert here.configuration.read_text() == BEFORE


def test_a_plugin_that_does_not_register_again_is_told(machine: Machine, here: Here) -> None:
    """With the resource that the kubelet does not watch."""
    here.registered = False
    with pytest.raises(TimedOut, match="the plugin did not register again within 90 s") as raised:
        machine.configure_kubelet(topologyManagerPolicy="restricted")
    assert raised.value.seen == f"not registered: {GPU}"


def test_a_plugin_that_starts_again_is_waited_for(
    machine: Machine, here: Here, cluster: Cluster
) -> None:
    """As where it ends with the kubelet; what is said of it meanwhile is told at the end."""
    here.away = True
    with pytest.raises(TimedOut) as raised:
        machine.configure_kubelet(topologyManagerPolicy="restricted")
    assert raised.value.seen == "the plugin does not answer: Connection refused"
    comes = cluster.clock.now() + 3
    cluster.clock.at(comes, lambda: setattr(here, "away", False))
    machine.configure_kubelet(topologyManagerPolicy="restricted")
    assert cluster.clock.now() == comes


def test_a_kubelet_that_was_stopped_runs_again_after_the_test(cluster: Cluster) -> None:
    """However often it was stopped."""
    done: list[str] = []

    class Node(Machine):
        @property
        def _node(self) -> Any:  # noqa: ANN401 - stands for a node of the backend
            return SimpleNamespace(
                stop_kubelet=lambda: done.append("stop"), start_kubelet=lambda: done.append("start")
            )

    machine = Node(cast("RunningLab", None), cluster.view, Afterwards(), "w", ())
    with machine.afterwards:
        machine.stop_kubelet()
        machine.stop_kubelet()
    assert done == ["stop", "stop", "start"]


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_hidden_file_comes_back(machine: Machine, tmp_path: Path, *, by_hand: bool) -> None:
    """By hand, or when the test is over; the second time does nothing."""
    file = tmp_path / "cdi.json"
    file.write_text("{}")
    with machine.afterwards:
        machine.hide(str(file))
        assert not file.exists()
        if by_hand:
            machine.bring_back(str(file))
            assert file.exists()
    assert file.read_text() == "{}"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["cdi.json", "config.yaml"]


def test_a_lost_checkpoint_takes_stale_resources_with_it(cluster: Cluster) -> None:
    """While nobody writes the node's status; what the fleet has there stays."""
    cluster.node("w", capacity={GPU: 8, "fake.example.com/device": 2})
    done: list[object] = []

    def send(method: str, path: str, *, body: object, content_type: str) -> None:
        done.append((method, path, body, content_type))

    access = SimpleNamespace(lose_checkpoint=lambda node: done.append(f"checkpoint of {node}"))
    client = SimpleNamespace(connection=SimpleNamespace(send=send))
    running = SimpleNamespace(access=access, client=client)
    (member,) = Fleet.default().placed_on(("w",)).nodes()
    machine = Stopped(cast("RunningLab", running), cluster.view, Afterwards(), "w", (member,))
    machine.lose_checkpoint()
    stale = {GPU: None}
    assert done == [
        "checkpoint of w",
        (
            "PATCH",
            "/api/v1/nodes/w/status",
            {"status": {"capacity": stale, "allocatable": stale}},
            MERGE,
        ),
    ]
