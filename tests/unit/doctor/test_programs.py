"""What the doctor says of kind, kubectl, Go and Python."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lab.cluster.kind.check import kind
from lab.cluster.kind.program import cached_path
from lab.host.checks import programs
from lab.host.checks.finding import Finding, State
from lab.host.folders import Folders
from lab.host.processes import Processes
from tests.unit.doctor.machines import SOUND

Put = Callable[[str, str], Path]


def kubectl() -> Finding:
    """Return the finding on kubectl beside Kubernetes 1.36."""
    return programs.kubectl(Processes(), "v1.36.3")


@pytest.mark.parametrize(
    ("version", "state"),
    [
        ("v1.34.9", "warn"),
        ("v1.35.0", "ok"),
        ("v1.36.3", "ok"),
        ("v1.37.1", "ok"),
        ("v1.38.0-alpha.1", "warn"),
        ("v1.32.4-dispatcher", "warn"),
    ],
)
def test_kubectl_may_be_one_minor_version_off(put_on_path: Put, version: str, state: str) -> None:
    """Kubernetes' own rule; another version is told and blocks nothing."""
    answer = json.dumps({"clientVersion": {"gitVersion": version}})
    put_on_path("kubectl", f'[ "$1 $2" = "version --client" ] && echo \'{answer}\'')
    found = kubectl()
    assert (found.state, found.measured, found.wanted) == (state, version, "v1.35 to v1.37")


@pytest.mark.parametrize("script", ["exit 1", "echo Client Version: v1.36.3", "echo []"])
def test_kubectl_that_answers_otherwise_is_said(put_on_path: Put, script: str) -> None:
    """A shim without a version behind it is no kubectl."""
    put_on_path("kubectl", script)
    assert kubectl().measured == "does not say its version"
    assert kubectl().state is State.WARN


@pytest.mark.usefixtures("put_on_path")
def test_missing_kubectl_is_a_warning() -> None:
    """The lab needs none."""
    found = kubectl()
    assert (found.state, found.measured) == (State.WARN, "not on the PATH")
    assert "install kubectl v1.36" in found.remedy


@pytest.mark.parametrize(
    ("script", "measured"),
    [
        ("echo go version go1.26.8 linux/amd64", "go1.26.8"),
        ("exit 1", "does not say its version"),
        (None, "not on the PATH"),
    ],
)
def test_go_is_said_and_never_blocks(put_on_path: Put, script: str | None, measured: str) -> None:
    """Without Go only builds from source are out of reach."""
    if script is not None:
        put_on_path("go", script)
    found = programs.go(Processes())
    assert (found.state, found.measured) == (State.OK, measured)


@pytest.mark.parametrize(
    ("version", "state"), [((3, 10), "fail"), ((3, 11), "ok"), ((3, 14), "ok")]
)
def test_python_is_recent_enough(version: tuple[int, int], state: str) -> None:
    """The version that the package asks for."""
    assert programs.python(replace(SOUND, python=version)).state == state


@pytest.fixture
def find(tmp_path: Path) -> Callable[[], Finding]:
    """Return the finding on kind, with an empty cache."""
    return lambda: kind(Processes(), Folders(tmp_path / "state", tmp_path / "cache"))


def cache_kind(tmp_path: Path) -> Path:
    """Put the pinned kind into the cache."""
    path = cached_path(Folders(tmp_path / "state", tmp_path / "cache"))
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\necho kind v0.33.0 go1.26.0 linux/amd64\n")
    path.chmod(0o755)
    return path


def test_recent_kind_is_shown_with_its_place(put_on_path: Put, find: Callable[[], Finding]) -> None:
    """The user learns which of several is meant."""
    path = put_on_path("kind", "echo kind v0.34.0 go1.26.0 linux/amd64")
    assert find() == Finding("kind", State.OK, f"v0.34.0 at {path}", "v0.33.0 or newer")


@pytest.mark.usefixtures("put_on_path")
def test_cached_kind_is_shown(tmp_path: Path, find: Callable[[], Finding]) -> None:
    """One that an earlier run installed is as good."""
    path = cache_kind(tmp_path)
    assert find().measured == f"v0.33.0 at {path}"


def test_old_kind_is_shown_with_what_is_used_instead(
    put_on_path: Put, tmp_path: Path, find: Callable[[], Finding]
) -> None:
    """Both versions and both places."""
    path = put_on_path("kind", "echo kind v0.20.0 go1.20.4 linux/amd64")
    cached = cache_kind(tmp_path)
    found = find()
    assert found.state is State.WARN
    assert found.measured == f"v0.20.0 at {path} is too old; v0.33.0 at {cached}"


@pytest.mark.parametrize(
    ("program", "state", "measured"),
    [("go", "ok", "v0.33.0, to be built with Go"), ("gone", "warn", "v0.33.0, to be downloaded")],
)
def test_missing_kind_is_shown_with_how_one_would_come(
    put_on_path: Put, find: Callable[[], Finding], program: str, state: str, measured: str
) -> None:
    """Go builds it; without Go it is downloaded, which a network may refuse."""
    put_on_path(program, "exit 1")
    found = find()
    assert (found.state, found.measured) == (state, measured)
    assert ("releases/download" in found.remedy) == (state == "warn")


def test_doctor_installs_nothing(put_on_path: Put, tmp_path: Path) -> None:
    """It says what would be done, and leaves that to `gpulab up`."""
    put_on_path("go", f"echo > {tmp_path}/asked")
    kind(Processes(), Folders(tmp_path / "state", tmp_path / "cache"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin"]
