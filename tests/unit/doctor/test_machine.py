"""This machine, measured; and what stops `gpulab up` on it."""

import json
import platform
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from lab.core.errors import NotReady
from lab.host.checks.blockers import blockers, require_ready
from lab.host.checks.finding import Finding, State, refuse
from lab.host.checks.machine import Disk, Machine
from lab.host.docker import Docker, Engine
from lab.host.processes import Processes
from tests.unit.doctor.machines import ENGINE, GIB, MAC, REMOTE, SOUND, WITHOUT_DOCKER

Put = Callable[[str, str], Path]


def info(**facts: object) -> str:
    """Return a `docker` whose engine runs here and says this of itself."""
    known = {"ServerVersion": "28.0.0", "Name": platform.node(), "DockerRootDir": "/"}
    return f"echo '{json.dumps({**known, **facts})}'"


def test_disk_of_an_engine_on_this_machine_is_measured(
    put_on_path: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the disk on which the engine stores."""
    monkeypatch.setattr("platform.system", lambda: "Linux")
    put_on_path("docker", info())
    machine = Machine.here(Docker(Processes()))
    assert isinstance(machine.engine, Engine)
    assert machine.disk is not None
    assert machine.disk.total > 0


@pytest.mark.parametrize("facts", [{"Name": "docker-desktop"}, {"DockerRootDir": "/no/such"}])
def test_disk_of_another_machine_is_not_measured(
    put_on_path: Put, facts: dict[str, object]
) -> None:
    """A folder of that name here would be another disk."""
    put_on_path("docker", info(**facts))
    assert Machine.here(Docker(Processes())).disk is None


@pytest.mark.usefixtures("put_on_path")
def test_missing_engine_is_part_of_the_measurement() -> None:
    """Measuring goes on, and the reason is kept."""
    machine = Machine.here(Docker(Processes()))
    assert isinstance(machine.engine, NotReady)
    assert machine.disk is None


@pytest.mark.parametrize("machine", [SOUND, MAC, REMOTE])
def test_sound_machine_is_not_stopped(machine: Machine) -> None:
    """What only warns does not stop anybody."""
    assert blockers(machine) == ()


@pytest.mark.parametrize(
    ("machine", "names"),
    [
        (WITHOUT_DOCKER, ["docker"]),
        (replace(SOUND, engine=replace(ENGINE, version="19.03.1")), ["docker-version"]),
        (replace(SOUND, python=(3, 9), disk=Disk(GIB, 0)), ["python", "disk"]),
    ],
)
def test_what_surely_fails_stops(machine: Machine, names: list[str]) -> None:
    """Each is known before anything is created."""
    assert [each.name for each in blockers(machine)] == names


def test_refusal_has_everything_that_is_known() -> None:
    """All that fails is told at once, each with measured and wanted value."""
    findings = [
        Finding("docker", State.OK, "answers"),
        Finding("version", State.FAIL, "19.03", "20.10", "install a newer one"),
        Finding("kubectl", State.WARN, "missing", remedy="install it"),
        Finding("disk", State.FAIL, "0 GiB", remedy="make room", commands=("docker system df",)),
    ]
    with pytest.raises(NotReady) as raised:
        refuse(findings)
    assert raised.value.render() == (
        "this machine is not ready: version, disk\n"
        "  seen:  version: 19.03 (wanted: 20.10)\n"
        "         disk: 0 GiB\n"
        "  next:  install a newer one; make room\n"
        "         $ docker system df"
    )


def test_refusal_of_what_is_shown_has_its_names() -> None:
    """Nobody reads the same twice."""
    with pytest.raises(NotReady) as raised:
        refuse([Finding("disk", State.FAIL, "0 GiB", remedy="make room")], shown=True)
    assert raised.value.render() == "this machine is not ready: disk"


def test_nothing_is_refused_where_nothing_fails() -> None:
    """Warnings pass."""
    refuse([Finding("kubectl", State.WARN, "missing")])


@pytest.mark.usefixtures("put_on_path")
def test_missing_engine_is_refused_in_its_own_words() -> None:
    """Docker's own error says more than a list of findings could."""
    with pytest.raises(NotReady, match=r"^Docker is not installed"):
        require_ready(Docker(Processes()))


@pytest.mark.parametrize(("version", "refused"), [("19.03.1", True), ("28.0.0", False)])
def test_old_engine_is_refused(put_on_path: Put, version: str, refused: bool) -> None:  # noqa: FBT001 - a row of the table
    """What surely fails is said before anything is created."""
    put_on_path("docker", info(ServerVersion=version, Name="elsewhere"))
    expected = pytest.raises(NotReady, match="docker-version") if refused else nullcontext()
    with expected:
        require_ready(Docker(Processes()))
