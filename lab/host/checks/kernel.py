"""Checks of the kernel that nodes run on: inotify, memory, capabilities.

They read /proc of this machine, and say so where the nodes run on another one.
"""

import re
from collections.abc import Callable
from typing import Final

from lab.host import capabilities
from lab.host.checks.finding import Finding, State
from lab.host.checks.machine import Machine
from lab.host.docker import Engine

#: kind's known issues, "Pod errors due to too many open files"; also kind#3317, #2972, #2928.
_INOTIFY: Final = {"instances": 512, "watches": 524288}
_GIB: Final = 1024**3
#: Room for all of Kubernetes in two nodes, and for what a learner adds.
_WANTED_MEMORY: Final = 2 * _GIB
_MEM_AVAILABLE: Final = re.compile(r"^MemAvailable:\s+(\d+) kB", re.MULTILINE)


def inotify(of: str) -> Callable[[Machine], Finding]:
    """Return the check of the limit of `instances` or `watches`.

    Where it is too low, a node fails minutes later with an error that does not name it.
    """

    def check(machine: Machine) -> Finding:
        name, wanted, setting = f"inotify-{of}", _INOTIFY[of], f"fs.inotify.max_user_{of}"
        read = machine.kernel(f"sys/fs/inotify/max_user_{of}")
        if machine.elsewhere or read is None:
            return _not_measured(name, machine, str(wanted))
        if int(read) >= wanted:
            return Finding(name, State.OK, read.strip(), str(wanted))
        return Finding(
            name,
            State.WARN,
            read.strip(),
            str(wanted),
            "raise the limit, or nodes may fail with `too many open files`",
            (
                f"sudo sysctl {setting}={wanted}",
                f"echo {setting}={wanted} | sudo tee -a /etc/sysctl.d/99-gpu-lab.conf",
            ),
        )

    return check


def memory(machine: Machine) -> Finding:
    """Return whether there is memory for two nodes: available here, or all of the engine's."""
    wanted = f"{_WANTED_MEMORY // _GIB} GiB"
    if machine.elsewhere and isinstance(machine.engine, Engine):
        amount, what = machine.engine.memory, f"in all on {machine.engine.host}"
    else:
        found = _MEM_AVAILABLE.search(machine.kernel("meminfo") or "")
        if found is None:
            return _not_measured("memory", machine, wanted)
        amount, what = int(found[1]) * 1024, "available"
    state = State.OK if amount >= _WANTED_MEMORY else State.WARN
    remedy = "" if state is State.OK else "stop what is not needed, or give Docker more memory"
    return Finding("memory", state, f"{amount / _GIB:.1f} GiB {what}", wanted, remedy)


def sys_resource(machine: Machine, *, adapted: bool = False) -> Finding:
    """Return whether CAP_SYS_RESOURCE is there: a container on a shared host may lack it.

    `adapted`: the nodes' image was built for what this machine lacks.
    """
    name, wanted = "CAP_SYS_RESOURCE", "present"
    present = capabilities.within_reach(
        capabilities.SYS_RESOURCE, machine.kernel("self/status") or ""
    )
    if machine.elsewhere or present is None:
        return _not_measured(name, machine, wanted)
    if present:
        return Finding(name, State.OK, "present", wanted)
    if adapted:
        return Finding(name, State.OK, "missing: the node image does without", wanted)
    return Finding(
        name,
        State.WARN,
        "missing",
        wanted,
        "this machine lets no container have this right of root, so no pod would start on nodes of "
        "a published image; build an image here, which is made to do without",
        ("gpulab image build-node",),
    )


def _not_measured(name: str, machine: Machine, wanted: str) -> Finding:
    reason = machine.elsewhere or "not measured: this kernel does not say"
    return Finding(name, State.OK, reason, wanted)
