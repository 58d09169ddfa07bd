"""Checks of the Docker engine: whether it answers, its version, its disk, its cgroups."""

import re
from typing import Final

from lab.host.checks.finding import Finding, State
from lab.host.checks.machine import Machine
from lab.host.docker import Engine

#: kind v0.33.0 starts every node with `--cgroupns=private`, which came with API 1.41.
_OLDEST: Final = (20, 10)
_GIB: Final = 1024**3
#: A node image has 1.2 GB, and each node unpacks some of it again.
_WANTED_DISK: Final = 5 * _GIB
#: Below this the node image alone does not fit.
_LEAST_DISK: Final = _GIB // 2
#: The kubelet's own defaults: images are evicted below 15 % free, pods below 10 %. kind turns both
#: off, but then the engine's disk runs full instead.
_WANTED_FREE: Final = 0.15


def docker(machine: Machine) -> Finding:
    """Return whether an engine answers this user: no program, no permission, no engine."""
    if isinstance(machine.engine, Engine):
        return Finding("docker", State.OK, "an engine answers", "an engine answers")
    return Finding.of("docker", machine.engine, wanted="an engine answers")


def docker_version(machine: Machine) -> Finding:
    """Return whether the engine is recent enough for kind."""
    name, wanted = "docker-version", f"{_OLDEST[0]}.{_OLDEST[1]} or newer"
    if not isinstance(machine.engine, Engine):
        return _unknown(name, wanted)
    version = machine.engine.version
    found = re.match(r"v?(\d+)\.(\d+)", version)
    if found is None:
        remedy = "the version cannot be compared; an engine of today is recent enough"
        return Finding(name, State.WARN, version, wanted, remedy)
    if (int(found[1]), int(found[2])) >= _OLDEST:
        return Finding(name, State.OK, version, wanted)
    return Finding(name, State.FAIL, version, wanted, "install a newer Docker Engine")


def disk(machine: Machine) -> Finding:
    """Return whether node images and what nodes write will fit where the engine stores."""
    name, wanted = "disk", f"{_WANTED_DISK // _GIB} GiB and {_WANTED_FREE:.0%} free"
    if not isinstance(machine.engine, Engine):
        return _unknown(name, wanted)
    if machine.disk is None:
        reason = machine.elsewhere or f"not measured: {machine.engine.data_root} is not to be seen"
        return Finding(name, State.OK, reason, wanted)
    total, free = machine.disk.total, machine.disk.free
    share = free / total if total else 0.0
    measured = f"{free / _GIB:.1f} GiB, {share:.0%} free on {machine.engine.data_root}"
    if free >= _WANTED_DISK and share >= _WANTED_FREE:
        return Finding(name, State.OK, measured, wanted)
    return Finding(
        name,
        State.FAIL if free < _LEAST_DISK else State.WARN,
        measured,
        wanted,
        "remove what the engine no longer needs; a kubelet with its default settings evicts "
        "below 15 % free, and a full disk breaks any node",
        ("docker system df", "docker image prune", "docker builder prune"),
    )


def cgroup(machine: Machine) -> Finding:
    """Say the cgroup version; both will do."""
    if not isinstance(machine.engine, Engine):
        return _unknown("cgroup", "v1 or v2")
    version = f"v{machine.engine.cgroup_version}"
    if machine.engine.cgroup_version > 1:
        return Finding("cgroup", State.OK, version, "v1 or v2")
    mounts = "" if machine.elsewhere else machine.kernel("self/mounts") or ""
    hybrid = ", hybrid" if any(line.startswith("cgroup2 ") for line in mounts.splitlines()) else ""
    return Finding(
        "cgroup",
        State.OK,
        f"{version}{hybrid}: accepted by the lab",
        "v1 or v2",
    )


def _unknown(name: str, wanted: str) -> Finding:
    return Finding(name, State.WARN, "not known without a Docker engine", wanted)
