"""What the doctor says of the Docker engine."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lab.core.errors import NotReady, TimedOut
from lab.host.checks import engine
from lab.host.checks.finding import Finding, State
from lab.host.checks.machine import Disk, Machine
from tests.unit.doctor.machines import ENGINE, GIB, MAC, REMOTE, SOUND, WITHOUT_DOCKER, with_kernel


def test_engine_that_answers_is_ok() -> None:
    """An engine that answers this user is all that is asked."""
    assert engine.docker(SOUND).state is State.OK


@pytest.mark.parametrize(
    ("error", "measured", "commands"),
    [
        (
            NotReady(
                "this user may not talk to it",
                seen="Got\npermission denied",
                commands=("sudo usermod -aG docker me", "gpulab doctor"),
            ),
            "this user may not talk to it: permission denied",
            ("sudo usermod -aG docker me",),
        ),
        (TimedOut("docker did not end within 20 s"), "docker did not end within 20 s", ()),
    ],
)
def test_engine_that_does_not_answer_fails(
    error: NotReady | TimedOut, measured: str, commands: tuple[str, ...]
) -> None:
    """The reason is told in the engine's words, and doctor does not send the reader to itself."""
    found = engine.docker(replace(SOUND, engine=error))
    assert (found.state, found.measured, found.commands) == (State.FAIL, measured, commands)


@pytest.mark.parametrize(
    ("version", "state"),
    [
        ("20.10.24+dfsg1", State.OK),
        ("29.0.0-rc.1", State.OK),
        ("v27.3.1", State.OK),
        ("20.9.0", State.FAIL),
        ("19.03.15", State.FAIL),
        ("master-dockerproject", State.WARN),
    ],
)
def test_engine_version_is_compared_by_number(version: str, state: State) -> None:
    """Before 20.10 no node starts; a version that cannot be read is no reason to stop."""
    found = engine.docker_version(replace(SOUND, engine=replace(ENGINE, version=version)))
    assert (found.state, found.measured, found.wanted) == (state, version, "20.10 or newer")


@pytest.mark.parametrize(
    ("total", "free", "state", "measured"),
    [
        (100, 50, State.OK, "50.0 GiB, 50% free on /var/lib/docker"),
        (20, 5, State.OK, "5.0 GiB, 25% free on /var/lib/docker"),
        (20, 4.9, State.WARN, "4.9 GiB, 24% free on /var/lib/docker"),
        (100, 8, State.WARN, "8.0 GiB, 8% free on /var/lib/docker"),
        (100, 0.5, State.WARN, "0.5 GiB, 0% free on /var/lib/docker"),
        (100, 0.4, State.FAIL, "0.4 GiB, 0% free on /var/lib/docker"),
        (0, 0, State.FAIL, "0.0 GiB, 0% free on /var/lib/docker"),
    ],
)
def test_disk_is_judged_by_amount_and_share(
    total: float, free: float, state: State, measured: str
) -> None:
    """Room for images counts, and so does the share at which a kubelet begins to evict."""
    found = engine.disk(replace(SOUND, disk=Disk(int(total * GIB), int(free * GIB))))
    assert (found.state, found.measured) == (state, measured)
    assert found.wanted == "5 GiB and 15% free"


@pytest.mark.parametrize(
    ("machine", "measured"),
    [
        (replace(MAC, disk=None), "not measured: on Darwin the nodes run in Docker's own machine"),
        (REMOTE, "not measured: the Docker engine runs on server, not here"),
        (replace(SOUND, disk=None), "not measured: /var/lib/docker is not to be seen"),
    ],
)
def test_disk_of_another_machine_is_not_judged(machine: Machine, measured: str) -> None:
    """This machine's disk says nothing about nodes that run elsewhere."""
    found = engine.disk(machine)
    assert (found.state, found.measured) == (State.OK, measured)


@pytest.mark.parametrize(
    ("version", "mounts", "measured"),
    [
        (2, "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", "v2"),
        (1, "cgroup /sys/fs/cgroup/memory cgroup rw 0 0\n", "v1: accepted by the lab"),
        (
            1,
            "cgroup /sys/fs/cgroup/memory cgroup rw 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2\n",
            "v1, hybrid: accepted by the lab",
        ),
    ],
)
def test_every_cgroup_version_is_said_and_fine(
    tmp_path: Path, version: int, mounts: str, measured: str
) -> None:
    """Neither version keeps a lab from starting."""
    machine = replace(SOUND, engine=replace(ENGINE, cgroup_version=version))
    found = engine.cgroup(with_kernel(tmp_path, {"self/mounts": mounts}, machine))
    assert (found.state, found.measured) == (State.OK, measured)


@pytest.mark.parametrize("check", [engine.docker_version, engine.disk, engine.cgroup])
def test_nothing_is_claimed_without_an_engine(check: Callable[[Machine], Finding]) -> None:
    """What only the engine could tell is said to be unknown, and is not held against anybody."""
    found = check(WITHOUT_DOCKER)
    assert (found.state, found.measured) == (State.WARN, "not known without a Docker engine")
