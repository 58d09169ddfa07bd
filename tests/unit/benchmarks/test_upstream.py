"""How the programs that the plugin is measured against are compiled."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.upstream import SAMPLE, STUB, at_hand, build
from lab.core.errors import NotReady
from lab.core.progress import Progress
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.images.node import programs, versions

#: Says that it is new enough, notes how it is called and what lies where it is, writes a program.
GO = """
[ "$1" != env ] || { echo go1.26.8; exit; }
[ -z "$GO_FAILS" ] || { echo "$GO_FAILS" >&2; exit 1; }
for last; do :; done
echo "$last:" * >>"$CALLS"
while [ "$1" != -o ]; do shift; done
echo program >"$2"
"""
PINS = (programs.SOURCES / "kubernetes" / "go.mod").read_text()


@pytest.fixture
def compile_both(
    put_on_path: Callable[[str, str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    progress: Progress,
) -> Callable[[], tuple[Path, Path]]:
    """Return what compiles both programs, with a stand-in for Go."""
    put_on_path("go", GO)
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    folders = Folders(tmp_path / "state", tmp_path / "cache")
    return lambda: build(Processes(), folders, progress)


def test_both_are_compiled_with_the_modules_of_the_node_image(
    compile_both: Callable[[], tuple[Path, Path]], tmp_path: Path
) -> None:
    """The sample is upstream's package, the other one a main of ours."""
    sample, stub = compile_both()
    assert (sample.name, stub.name) == (SAMPLE, STUB)
    assert sample.read_text() == stub.read_text() == "program\n"
    assert (tmp_path / "calls").read_text().splitlines() == [
        "k8s.io/kubernetes/test/images/sample-device-plugin: go.mod go.sum",
        ".: go.mod go.sum main.go",
    ]
    assert f"k8s.io/kubernetes {versions.KUBERNETES}" in PINS


def test_they_are_compiled_once(
    compile_both: Callable[[], tuple[Path, Path]], tmp_path: Path
) -> None:
    """Another run takes them from the cache, and asks no Go."""
    first = compile_both()
    (tmp_path / "calls").unlink()
    assert compile_both() == first
    assert not (tmp_path / "calls").exists()


def test_programs_that_are_at_hand_are_found_without_go(
    compile_both: Callable[[], tuple[Path, Path]], tmp_path: Path, progress: Progress
) -> None:
    """Where they were never compiled, there are none, and nothing is compiled."""
    folders = Folders(tmp_path / "state", tmp_path / "cache")
    assert at_hand(Processes(), folders, progress) is None
    assert not (tmp_path / "calls").exists()
    programs = compile_both()
    assert at_hand(Processes(), folders, progress) == programs


def test_a_go_that_fails_is_told(
    compile_both: Callable[[], tuple[Path, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With Go's own words, and how to do without."""
    monkeypatch.setenv("GO_FAILS", "no module proxy answers")
    with pytest.raises(NotReady) as failed:
        compile_both()
    assert failed.value.what.startswith(f"{SAMPLE} could not be compiled")
    assert "no module proxy answers" in failed.value.seen
    assert "--alone" in failed.value.remedy
