"""The whole node image, built by stand-ins for Go, mmdebstrap, containerd and Docker."""

import errno
import json
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import Mock

import pytest

from lab.core.errors import NotReady
from lab.core.progress import Progress
from lab.host.docker import Docker
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.images.node import NodeImage, build_node_image, factory, node_image_reference
from tests.unit.images.machine import ImageMachine, Tar

#: The stand-in of `ctr` keeps what it imports there.
BLOBS = "var/lib/containerd/io.containerd.content.v1.content/blobs"
Build = Callable[[], NodeImage]


class Disk(NamedTuple):
    """As `shutil.disk_usage` tells."""

    total: int
    used: int
    free: int


@pytest.fixture
def build(machine: ImageMachine, progress: Progress) -> Build:
    """Return what builds the node image."""
    return lambda: build_node_image(Processes(), machine.folders, progress)


def config(machine: ImageMachine) -> dict[str, Any]:
    """Return the configuration of the image that Docker has."""
    archive = machine.loaded()
    (image,) = json.loads(archive.text("manifest.json"))
    found: dict[str, Any] = json.loads(archive.text(image["Config"]))
    return found


def preloaded(machine: ImageMachine) -> Tar:
    """Return the layer with containerd's store of the image that Docker has."""
    archive = machine.loaded()
    (image,) = json.loads(archive.text("manifest.json"))
    return Tar.read(archive.files[image["Layers"][1]])


def test_image_has_the_name_that_is_looked_for(build: Build) -> None:
    """Who only asks for the name gets that of the image which is built."""
    built = build()
    assert built.reference == node_image_reference(Docker(Processes()).engine())
    assert (built.size, built.kubernetes) == (700, "v1.36.3")


def test_image_starts_as_kind_expects(build: Build, machine: ImageMachine) -> None:
    """Systemd knows that it is in a container, and how it is told to end."""
    build()
    start = config(machine)["config"]
    assert start["Entrypoint"] == ["/usr/local/bin/entrypoint", "/sbin/init"]
    assert "container=docker" in start["Env"]
    assert start["StopSignal"] == "SIGRTMIN+3"


def test_label_tells_what_went_in(build: Build, machine: ImageMachine) -> None:
    """The manifest in the image and the one beside the cache are the same."""
    machine.engine(cgroup_version=1)
    built = build()
    labels = config(machine)["config"]["Labels"]
    manifest = json.loads(labels["gpu-lab.node-image.manifest"])
    assert json.loads(built.manifest.read_text()) == manifest
    assert "cgroup-v1" in labels["gpu-lab.node-image.adaptations"].split(",")
    assert {each["name"]: each["version"] for each in manifest["components"]} == {
        "kubernetes": "v1.36.3",
        "containerd": "v2.3.6",
        "coredns": "v1.14.2",
        "crictl": "v1.36.0",
        "pause": "3.10",
        "node-root": "bookworm",
        "tools": "bookworm",
        "preloaded": "v1.36.3",
        "system": "v0.33.0",
    }


def test_nodes_hold_their_images(build: Build, machine: ImageMachine) -> None:
    """Containerd's store is in the image, and nothing of what else it keeps."""
    build()
    store = preloaded(machine)
    assert "var/lib/containerd/io.containerd.metadata.v1.bolt/meta.db" in store.names
    assert not any("of.another.plugin" in name for name in store.names)
    found = json.loads(Tar.read(store.files[BLOBS]).text("manifest.json"))
    assert [each["RepoTags"] for each in found] == [
        [
            "registry.k8s.io/kube-apiserver:v1.36.3",
            "registry.k8s.io/kube-controller-manager:v1.36.3",
            "registry.k8s.io/kube-proxy:v1.36.3",
            "registry.k8s.io/kube-scheduler:v1.36.3",
            "registry.k8s.io/etcd:3.6.8-0",
            "localhost/gpu-lab/node-routes:v1.36.3",
        ],
        ["registry.k8s.io/coredns/coredns:v1.14.2"],
        ["registry.k8s.io/pause:3.10"],
        ["docker.io/library/busybox:1.36"],
    ]
    assert found[0]["Layers"] == found[1]["Layers"]


def test_busybox_has_its_applets(build: Build, machine: ImageMachine) -> None:
    """Pods call `sh` and `wget`, which Busybox is by name."""
    build()
    images = Tar.read(preloaded(machine).files[BLOBS])
    busybox = json.loads(images.text("manifest.json"))[-1]
    found = Tar.read(images.files[busybox["Layers"][0]]).entries
    assert {name for name, each in found.items() if each.linkname == "busybox"} == {
        "bin/ls",
        "bin/sh",
        "bin/wget",
    }
    assert found["tmp"].mode == 0o1777


def test_second_run_builds_nothing(build: Build, machine: ImageMachine) -> None:
    """An image that the engine has is found by its name."""
    first = build()
    machine.calls.unlink()
    assert build() == first
    assert machine.called("") == []


def test_lost_image_is_put_together_again(build: Build, machine: ImageMachine) -> None:
    """What was compiled is still there when the engine has forgotten the image."""
    first = build()
    (machine.fakes / "loaded.tar").unlink()
    machine.calls.unlink()
    assert build().reference == first.reference
    assert machine.called("go") == []


def test_stopped_build_goes_on_where_it_was(build: Build, machine: ImageMachine) -> None:
    """What was made before a failure is not made again."""
    machine.environment.setenv("MMDEBSTRAP_FAILS", "E: no mirror")
    with pytest.raises(NotReady, match="mmdebstrap could not"):
        build()
    machine.environment.setenv("MMDEBSTRAP_FAILS", "")
    build()
    assert len(machine.called("go build")) == 2
    assert machine.left_over() == []


def test_missing_mmdebstrap_is_told_before_anything_is_compiled(
    build: Build, machine: ImageMachine
) -> None:
    """Nobody waits for a compiler to learn what was missing from the start."""
    (machine.fakes.parent / "bin" / "mmdebstrap").unlink()
    with pytest.raises(NotReady, match="mmdebstrap is missing"):
        build()
    assert machine.called("go") == []


def test_full_disk_of_the_engine_is_told(build: Build, machine: ImageMachine) -> None:
    """Docker's words about its disk come with the way on, and no archive is left."""
    machine.environment.setenv("LOAD_FAILS", "write /layer: no space left on device")
    with pytest.raises(NotReady, match="the disk is full: the node image could not be loaded"):
        build()
    assert machine.left_over() == []


def test_full_disk_of_the_cache_is_told(
    build: Build, machine: ImageMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where no more than the manifest of a finished image is to be written."""
    build()
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(Path, "write_text", Mock(side_effect=full))
    with pytest.raises(NotReady, match="the disk is full: what went into the node image"):
        build()
    assert machine.left_over() == []


def test_cache_that_cannot_be_written_is_told_first(
    machine: ImageMachine, progress: Progress, tmp_path: Path
) -> None:
    """It is no bug of ours: the user reads which folder, and nothing is begun."""
    (tmp_path / "file").touch()
    folders = Folders(machine.folders.state, tmp_path / "file" / "cache")
    with pytest.raises(NotReady, match="the lab cannot write its own files"):
        build_node_image(Processes(), folders, progress)
    assert machine.called("") == []


@pytest.mark.parametrize(("free", "needed"), [(1 << 30, "9 GiB"), (8 << 30, "9 GiB")])
def test_too_little_room_is_told_first(
    build: Build, machine: ImageMachine, monkeypatch: pytest.MonkeyPatch, free: int, needed: str
) -> None:
    """A build that cannot end does not begin."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(free * 2, free, free))
    with pytest.raises(NotReady, match="not enough room") as raised:
        build()
    assert raised.value.seen == f"{free >> 30}.0 GiB are free, {needed} are needed"
    assert machine.called("") == []


def test_room_is_shown_by_what_is_pasted(
    machine: ImageMachine, progress: Progress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A blank in the path of the cache or not."""
    folders = Folders(machine.folders.state, tmp_path / "my cache")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(2, 1, 1))
    with pytest.raises(NotReady) as raised:
        build_node_image(Processes(), folders, progress)
    assert raised.value.commands == (f"df -h '{folders.cache}/node-image'",)


def test_last_step_takes_less_room(
    build: Build, machine: ImageMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is compiled already needs no room to be compiled in."""
    build()
    (machine.fakes / "loaded.tar").unlink()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(4 << 30, 1 << 30, 3 << 30))
    assert build().size == 700


def test_host_is_spoken_of(build: Build, machine: ImageMachine, said: list[str]) -> None:
    """What was measured is told before the work begins."""
    machine.engine(cgroup_version=1)
    build()
    assert said[0] == "this host has cgroup v1: the image tells kubelet to accept it"


def test_parts_come_after_what_they_need(build: Build, said: list[str]) -> None:
    """The longest is begun first, and the layers come last."""
    build()
    titles = [line.removeprefix("done: ") for line in said if line.startswith("done: ")]
    assert titles.index("Compile kubernetes v1.36.3") < titles.index("Compile containerd v2.3.6")
    assert titles[-3:-1] == [
        "Put Kubernetes' images into a containerd store",
        "Put the files of a node together",
    ]
    assert titles[-1].startswith("Load gpu-lab/node:v1.36.3-")


def test_estimate_is_fit_for_a_message() -> None:
    """Others put it into brackets."""
    assert factory.ESTIMATED_TIME == "about 25 minutes on 2 cores"


def test_images_of_another_build_are_not_taken(
    build: Build, machine: ImageMachine, tmp_path: Path
) -> None:
    """A name that somebody else gave to an image does not make it ours."""
    reference = build().reference
    foreign = {"config": {"Labels": {}}, "created": ""}
    manifest = [{"Config": "0.json", "RepoTags": [reference], "Layers": []}]
    with tarfile.open(machine.fakes / "loaded.tar", "w") as archive:
        for name, facts in (("0.json", foreign), ("manifest.json", manifest)):
            (tmp_path / name).write_text(json.dumps(facts))
            archive.add(tmp_path / name, name)
    assert build().reference == reference
    assert config(machine)["config"]["Labels"]["gpu-lab.node-image"]
