"""The plugin image: what is in it, and when it is built again."""

import json
import re
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from lab.core.errors import NotReady
from lab.core.progress import Progress
from lab.host.processes import Processes
from lab.images.plugin import PluginImage, build_plugin_image, contents
from lab.images.plugin.wheels import LOCK
from tests.unit.images.machine import ImageMachine, Put, Tar

SITE = "usr/local/lib/python3.11/dist-packages"
#: A pip that unpacks one package, and is also the image's loader that starts its Python.
PIP = """
echo "pip $*" >>"$CALLS"
[ -z "$PIP_FAILS" ] || { echo "$PIP_FAILS" >&2; exit 1; }
for each; do [ "$last" != --target ] || target=$each; last=$each; done
mkdir -p "$target/grpc"
echo library >"$target/grpc/__init__.py"
"""
LOADER = """#!/bin/sh
echo "python $*" >>"$CALLS"
"""
DOCKER = """
echo "docker $*" >>"$CALLS"
case "$1 $2" in
"image inspect") case "$BASE_IS_HERE" in yes) echo '[{"Id": "1", "Size": 1, "Config": {}}]' ;;
  *) echo "No such image" >&2; exit 1 ;; esac ;;
"build "*) [ -z "$BUILD_FAILS" ] || { echo "$BUILD_FAILS" >&2; exit 1; } ;;
"save "*) echo archive ;;
esac
"""
Build = Callable[[], PluginImage]


@pytest.fixture
def build(
    machine: ImageMachine, progress: Progress, put_on_path: Put, monkeypatch: pytest.MonkeyPatch
) -> Build:
    """Return what builds the image on a machine with a pip and a Debian mirror."""
    monkeypatch.setattr(sys, "executable", str(put_on_path("python", PIP)))
    machine.write_root({"lib/x86_64-linux-gnu/ld-linux-x86-64.so.2": LOADER})
    return lambda: build_plugin_image(Processes(), machine.folders, progress)


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Return the files of a plugin of our own, which tests may change."""
    found = {"fake_plugin/__init__.py": b"", "fake_plugin/__main__.py": b"print('hello')"}
    monkeypatch.setattr("lab.images.plugin.image.plugin_files", lambda: found)
    return found


@pytest.fixture
def without_mmdebstrap(machine: ImageMachine, put_on_path: Put) -> None:
    """Leave the machine with Docker alone."""
    (machine.fakes.parent / "bin" / "mmdebstrap").unlink()
    put_on_path("docker", DOCKER)


def image_in(archive: Path) -> tuple[dict[str, Any], list[Tar]]:
    """Return the manifest's entry with its configuration, and the layers."""
    tar = Tar.read(archive)
    (image,) = json.loads(tar.text("manifest.json"))
    image["Config"] = json.loads(tar.text(image["Config"]))
    return image, [Tar.read(tar.files[each]) for each in image["Layers"]]


def test_image_starts_the_plugin(build: Build) -> None:
    """A pod without a command runs the plugin, which writes nothing beside its work."""
    built = build()
    image, _ = image_in(built.archive)
    assert image["RepoTags"] == [built.reference]
    assert image["Config"]["config"]["Entrypoint"] == ["python3", "-m", "fake_plugin"]
    assert {"PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1"} < set(
        image["Config"]["config"]["Env"]
    )


def test_image_is_named_by_what_is_in_it(build: Build) -> None:
    """The name is one that no registry serves."""
    built = build()
    assert re.fullmatch(r"localhost/gpu-lab/fake-plugin:[0-9a-f]{12}", built.reference)
    assert built.size == built.archive.stat().st_size


@pytest.mark.usefixtures("plugin")
def test_plugin_lies_beside_its_libraries(build: Build) -> None:
    """The upper layer holds the wheels and the plugin, the lower one Python."""
    _, (_, site) = image_in(build().archive)
    assert site.text(f"{SITE}/fake_plugin/__main__.py") == "print('hello')"
    assert site.text(f"{SITE}/grpc/__init__.py") == "library\n"
    assert site.entries["usr/bin/python3"].linkname == "python3.11"
    assert site.entries["bin/sh"].linkname == "busybox"


def test_modules_are_compiled_by_the_images_python(build: Build, machine: ImageMachine) -> None:
    """Byte code is never compared with its source: the file system is read-only."""
    build()
    (call,) = machine.called("python ")
    assert "/usr/bin/python3.11 -m compileall -q --invalidation-mode unchecked-hash" in call
    assert call.endswith(SITE)


def test_second_build_asks_nobody(build: Build, machine: ImageMachine, said: list[str]) -> None:
    """An image that was built is found without a program, and without a word."""
    first = build()
    machine.calls.unlink()
    said.clear()
    assert build() == first
    assert (machine.called(""), said) == ([], [])


def test_changed_plugin_is_a_new_image(
    build: Build, machine: ImageMachine, plugin: dict[str, bytes]
) -> None:
    """Only the upper layer is made again."""
    first = build()
    plugin["fake_plugin/new.py"] = b""
    machine.calls.unlink()
    assert build().reference != first.reference
    assert (machine.called("mmdebstrap"), machine.called("pip")) == ([], [])


def test_renamed_file_is_a_new_image(build: Build, plugin: dict[str, bytes]) -> None:
    """The same content under another name is another image."""
    first = build()
    plugin["fake_plugin/other.py"] = plugin.pop("fake_plugin/__main__.py")
    assert build().reference != first.reference


def test_wheels_are_pinned_and_for_the_image(build: Build, machine: ImageMachine) -> None:
    """Another Python runs the lab than the plugin; nothing is built from source."""
    build()
    (call,) = machine.called("pip")
    for argument in (
        "--require-hashes",
        "--only-binary=:all:",
        "--python-version=3.11",
        "--platform=manylinux_2_28_x86_64",
    ):
        assert argument in call.split()


def test_missing_wheels_are_told(build: Build, machine: ImageMachine) -> None:
    """No package index: pip's words, and where to look."""
    machine.environment.setenv("PIP_FAILS", "ERROR: No matching distribution found for grpcio")
    with pytest.raises(NotReady, match="the packages for the plugin image") as raised:
        build()
    assert raised.value.seen == "ERROR: No matching distribution found for grpcio"
    assert machine.left_over() == []


def test_full_disk_is_told(build: Build, machine: ImageMachine) -> None:
    """Pip on a full disk is told as a full disk."""
    machine.environment.setenv("PIP_FAILS", "OSError: [Errno 28] No space left on device")
    with pytest.raises(NotReady, match="the disk is full: plugin-wheels"):
        build()


@pytest.mark.usefixtures("without_mmdebstrap")
def test_engine_builds_where_debian_is_not(build: Build, machine: ImageMachine) -> None:
    """Without mmdebstrap the image stands on Python's own, and leaves the engine as it was."""
    built = build()
    assert built.archive.read_text() == "archive\n"
    calls = machine.called("docker")
    assert calls[1].startswith(f"docker build --force-rm --tag {built.reference} ")
    assert calls[2:] == [
        f"docker save {built.reference}",
        f"docker image rm --force {built.reference}",
        "docker image rm --force python:3.11-slim-bookworm",
    ]


@pytest.mark.usefixtures("without_mmdebstrap")
def test_image_of_the_user_stays(build: Build, machine: ImageMachine) -> None:
    """What was in the engine before is not the lab's to remove."""
    machine.environment.setenv("BASE_IS_HERE", "yes")
    build()
    assert not any("rm --force python:" in call for call in machine.called("docker"))


@pytest.mark.usefixtures("without_mmdebstrap")
def test_nothing_to_build_upon_is_told(build: Build, machine: ImageMachine) -> None:
    """Neither packages nor a registry: both ways out are named, and nothing is left."""
    machine.environment.setenv("BUILD_FAILS", "pull access denied")
    with pytest.raises(NotReady, match="neither the program mmdebstrap nor the image") as raised:
        build()
    assert raised.value.seen == "pull access denied"
    assert raised.value.remedy == (
        "install mmdebstrap (Debian and Ubuntu have it), or let Docker reach a registry"
    )
    assert machine.called("docker image rm")
    assert machine.left_over() == []


def test_files_of_the_plugin_are_all_there() -> None:
    """What is installed here goes in, but for what Python makes of it."""
    found = contents.plugin_files()
    assert "fake_plugin/__main__.py" in found
    assert "fake_plugin/api/deviceplugin_pb2.py" in found
    assert not any("__pycache__" in name for name in found)
    package = Path(str(files("fake_plugin")))
    assert set(found) == {
        each.relative_to(package.parent).as_posix()
        for each in package.rglob("*")
        if each.is_file() and "__pycache__" not in each.parts
    }


def test_lock_holds_what_the_plugin_needs_and_no_address() -> None:
    """The lock pins by hash, and leaves it to the user where packages come from."""
    lock = LOCK.read_text()
    assert re.findall(r"^([\w-]+)==", lock, re.MULTILINE) == [
        "grpcio",
        "inotify-simple",
        "protobuf",
        "pyyaml",
        "typing-extensions",
    ]
    assert "://" not in lock
    assert lock.count("--hash=sha256:") > 5


def test_plugin_is_tested_with_what_its_image_has() -> None:
    """Each version of the image's lock is that of the lock which tests are run with."""
    pins = re.findall(r"^[\w-]+==\S+", LOCK.read_text(), re.MULTILINE)
    development = (Path(__file__).parents[3] / "requirements-dev.lock").read_text()
    assert pins
    assert set(pins) <= set(re.findall(r"^[\w-]+==\S+", development, re.MULTILINE))
