"""What the doctor says of the kernel that nodes run on."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.host.checks import kernel
from lab.host.checks.finding import Finding, State
from lab.host.checks.machine import Machine
from tests.unit.doctor.machines import MAC, REMOTE, SOUND, WITHOUT_DOCKER, with_kernel


@pytest.mark.parametrize(
    ("of", "wanted", "low"), [("instances", "512", "128"), ("watches", "524288", "8192")]
)
def test_low_inotify_limit_is_named_with_its_remedy(
    tmp_path: Path, of: str, wanted: str, low: str
) -> None:
    """Measured, wanted, and the lines that raise it: now, and at the next boot."""
    setting = f"fs.inotify.max_user_{of}"
    machine = with_kernel(tmp_path, {setting.replace(".", "/").join(("sys/", "")): f"{low}\n"})
    found = kernel.inotify(of)(machine)
    assert (found.name, found.state) == (f"inotify-{of}", State.WARN)
    assert (found.measured, found.wanted) == (low, wanted)
    assert found.commands == (
        f"sudo sysctl {setting}={wanted}",
        f"echo {setting}={wanted} | sudo tee -a /etc/sysctl.d/99-gpu-lab.conf",
    )


@pytest.mark.parametrize(("read", "state"), [("511", "warn"), ("512", "ok"), ("8192", "ok")])
def test_inotify_limit_is_met_by_the_wanted_value(tmp_path: Path, read: str, state: str) -> None:
    """The wanted value itself is enough."""
    machine = with_kernel(tmp_path, {"sys/fs/inotify/max_user_instances": read})
    assert kernel.inotify("instances")(machine).state == state


@pytest.mark.parametrize(
    ("available", "state", "measured"),
    [(8388608, "ok", "8.0 GiB available"), (1048576, "warn", "1.0 GiB available")],
)
def test_available_memory_is_what_counts(
    tmp_path: Path, available: int, state: str, measured: str
) -> None:
    """What is free matters less than what could be had."""
    text = f"MemTotal: 16777216 kB\nMemFree: 1024 kB\nMemAvailable: {available} kB\n"
    found = kernel.memory(with_kernel(tmp_path, {"meminfo": text}))
    assert (found.state, found.measured, found.wanted) == (state, measured, "2 GiB")
    assert bool(found.remedy) == (state == "warn")


@pytest.mark.parametrize(
    ("machine", "state", "measured"),
    [
        (MAC, "ok", "8.0 GiB in all on docker-desktop"),
        (REMOTE, "warn", "1.0 GiB in all on server"),
    ],
)
def test_memory_of_the_engines_machine_is_asked_of_it(
    machine: Machine, state: str, measured: str
) -> None:
    """Where nodes run elsewhere, that machine's memory is judged."""
    found = kernel.memory(machine)
    assert (found.state, found.measured) == (state, measured)


@pytest.mark.parametrize(
    ("bounding", "state", "measured"),
    [
        ("000001ffffffffff", "ok", "present"),
        ("000001fffeffffff", "warn", "missing"),
        ("00000000a80425fb", "warn", "missing"),
    ],
)
def test_missing_capability_is_said_with_what_the_lab_does(
    tmp_path: Path, bounding: str, state: str, measured: str
) -> None:
    """CAP_SYS_RESOURCE is capability 24; an ordinary user's effective set says nothing."""
    status = f"Name:\tpython\nCapEff:\t0000000000000000\nCapBnd:\t{bounding}\n"
    found = kernel.sys_resource(with_kernel(tmp_path, {"self/status": status}))
    assert (found.state, found.measured) == (state, measured)
    assert ("gpulab image build-node" in found.commands) == (state == "warn")


def test_missing_capability_is_no_matter_where_the_node_image_does_without(tmp_path: Path) -> None:
    """One that was built here: there is nothing left to do."""
    there = with_kernel(tmp_path, {"self/status": "CapBnd:\t00000000a80425fb\n"})
    found = kernel.sys_resource(there, adapted=True)
    assert (found.state, found.remedy) == (State.OK, "")
    assert found.measured == "missing: the node image does without"


def test_missing_capability_says_what_becomes_of_it(tmp_path: Path) -> None:
    """To whoever does not know what a capability is."""
    there = with_kernel(tmp_path, {"self/status": "CapBnd:\t00000000a80425fb\n"})
    assert kernel.sys_resource(there).remedy == (
        "this machine lets no container have this right of root, so no pod would start on nodes of "
        "a published image; build an image here, which is made to do without"
    )


CHECKS = [kernel.inotify("instances"), kernel.inotify("watches"), kernel.sys_resource]
FILES = {
    "sys/fs/inotify/max_user_instances": "1",
    "sys/fs/inotify/max_user_watches": "1",
    "self/status": "CapBnd:\t0000000000000000\n",
}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    ("machine", "measured"),
    [
        (MAC, "not measured: on Darwin the nodes run in Docker's own machine"),
        (REMOTE, "not measured: the Docker engine runs on server, not here"),
    ],
)
def test_kernel_of_another_machine_is_not_judged(
    tmp_path: Path, check: Callable[[Machine], Finding], machine: Machine, measured: str
) -> None:
    """However low the limits are here, the nodes run elsewhere."""
    found = check(with_kernel(tmp_path, FILES, machine))
    assert (found.state, found.measured) == (State.OK, measured)


@pytest.mark.parametrize("check", [*CHECKS, kernel.memory])
def test_silent_kernel_is_not_held_against_the_machine(
    check: Callable[[Machine], Finding],
) -> None:
    """A sandbox may hide parts of /proc."""
    found = check(SOUND)
    assert (found.state, found.measured) == (State.OK, "not measured: this kernel does not say")


@pytest.mark.parametrize("check", CHECKS)
def test_kernel_is_judged_without_an_engine(
    tmp_path: Path, check: Callable[[Machine], Finding]
) -> None:
    """A machine on which Docker is still to be installed learns of its limits all the same."""
    assert check(with_kernel(tmp_path, FILES, WITHOUT_DOCKER)).state is State.WARN
