"""What is measured of the host, and what is said about it."""

from pathlib import Path

import pytest

from lab.host.docker import Engine
from lab.images.node import node_image_reference
from lab.images.node.adaptation import Adaptations

FULL = "000001ffffffffff"
WITHOUT_SYS_RESOURCE = "000001fffeffffff"


def engine(cgroup_version: int = 2) -> Engine:
    """Return an engine on a host with this version of cgroups."""
    return Engine(
        version="29.1.0",
        host="machine",
        memory=8 << 30,
        cgroup_version=cgroup_version,
        data_root=Path("/var/lib/docker"),
    )


def status(folder: Path, mask: str) -> Path:
    """Return what /proc says of a process with these capabilities within reach."""
    file = folder / "status"
    file.write_text(f"Name:\tpython\nCapEff:\t0000000000000000\nCapBnd:\t{mask}\n")
    return file


@pytest.mark.parametrize(
    ("cgroup", "mask", "names"),
    [
        (2, FULL, ()),
        (1, FULL, ("cgroup-v1",)),
        (2, WITHOUT_SYS_RESOURCE, ("no-sys-resource",)),
        (1, WITHOUT_SYS_RESOURCE, ("cgroup-v1", "no-sys-resource")),
    ],
)
def test_host_is_measured(tmp_path: Path, cgroup: int, mask: str, names: tuple[str, ...]) -> None:
    """The engine tells of cgroups, the kernel of capabilities."""
    found = Adaptations.of(engine(cgroup), status(tmp_path, mask))
    assert found.names == names
    assert len(found.notes()) == len(names)


@pytest.mark.parametrize("text", [None, "Name:\tpython\n"])
def test_host_that_says_nothing_lacks_nothing(tmp_path: Path, text: str | None) -> None:
    """Without /proc the engine is in a virtual machine of its own, as full root."""
    file = tmp_path / "status"
    if text is not None:
        file.write_text(text)
    assert not Adaptations.of(engine(), file).no_sys_resource


def test_notes_say_what_follows() -> None:
    """A reader learns what was found and what the image does about it."""
    assert Adaptations(cgroup_v1=True, no_sys_resource=True).notes() == (
        "this host has cgroup v1: the image tells kubelet to accept it",
        (
            "this host has no CAP_SYS_RESOURCE: the image's containerd leaves OOM scores and "
            "limits as they are"
        ),
    )


@pytest.mark.usefixtures("put_on_path")
def test_name_of_the_image_tells_hosts_apart() -> None:
    """An image for one kind of host is never taken for another; no program is asked."""
    names = {node_image_reference(engine(each)) for each in (1, 2, 2)}
    assert len(names) == 2
    assert all(each.startswith("gpu-lab/node:v1.36.3-") for each in names)
