"""The checks that `gpulab up` makes first: those few with which it would surely fail."""

from collections.abc import Callable
from typing import Final

from lab.host.checks import engine, programs
from lab.host.checks.finding import Finding, failed, refuse
from lab.host.checks.machine import Machine
from lab.host.docker import Docker, Engine

#: None of them runs a program: the machine has been measured.
BLOCKING: Final[tuple[Callable[[Machine], Finding], ...]] = (
    programs.python,
    engine.docker,
    engine.docker_version,
    engine.disk,
)


def blockers(machine: Machine) -> tuple[Finding, ...]:
    """Return what surely stops `gpulab up` on this machine."""
    return failed(check(machine) for check in BLOCKING)


def require_ready(docker: Docker) -> Engine:
    """Return the engine, which has been asked about itself.

    Raises `NotReady` (or `TimedOut`, of an engine that hangs) where `gpulab up` surely fails.
    """
    machine = Machine.here(docker)
    if not isinstance(machine.engine, Engine):
        raise machine.engine
    refuse(blockers(machine))
    return machine.engine
