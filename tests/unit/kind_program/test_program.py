"""Where the kind program comes from."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lab.cluster.kind.program import Kind, cached_path, find_kind
from lab.core.errors import Interrupted, NotReady
from lab.core.progress import Progress
from lab.host.folders import Folders
from lab.host.processes import Processes

Put = Callable[[str, str], Path]
Find = Callable[[], Kind]

#: Builds the kind that was asked for, as `go install` does, and keeps how it was asked.
FAKE_GO = """
echo "$1 $2 in $PWD with $GOFLAGS" > "$ASKED"
printf '#!/bin/sh\\necho kind v0.33.0 go1.26.0 linux/amd64\\n' > "$GOBIN/kind"
/bin/chmod +x "$GOBIN/kind"
"""


@pytest.fixture
def find(folders: Folders, progress: Progress, releases: str) -> Find:
    """Return the search, in folders and with releases of the test."""
    return lambda: find_kind(Processes(), folders, progress, releases=releases)


def cache(folders: Folders, script: str) -> Path:
    """Put a program where an earlier run would have left kind."""
    path = cached_path(folders)
    path.parent.mkdir(parents=True)
    path.write_text(script)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("version", ["v0.33.0", "v0.33.1", "v0.100.0", "v1.0.0"])
def test_kind_on_the_path_is_taken(put_on_path: Put, find: Find, version: str) -> None:
    """A kind of the user that is recent enough comes first."""
    path = put_on_path("kind", f"echo 'kind {version} go1.26.0 linux/amd64'")
    assert find() == Kind(path, version)


@pytest.mark.parametrize("version", ["v0.32.9", "v0.4.0", "v0.33.0-alpha+0123456789abcd"])
@pytest.mark.usefixtures("published")
def test_old_kind_on_the_path_is_named_and_passed_over(
    put_on_path: Put, find: Find, folders: Folders, said: list[str], version: str
) -> None:
    """One note says both versions; the lab then gets a kind of its own."""
    path = put_on_path("kind", f"echo 'kind {version} go1.26.0 linux/amd64'")
    assert find() == Kind(cached_path(folders), "v0.33.0")
    assert said == [
        f"{path} is {version}, and the lab needs v0.33.0 or newer: using a kind of its own",
        "done: Downloading kind v0.33.0",
    ]


@pytest.mark.usefixtures("put_on_path")
def test_cached_kind_is_used_again(find: Find, folders: Folders, said: list[str]) -> None:
    """Nothing is installed where an earlier run has done so."""
    path = cache(folders, "#!/bin/sh\necho kind v0.33.0 go1.26.0 linux/amd64\n")
    assert find() == Kind(path, "v0.33.0")
    assert said == []


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("", id="empty"),
        pytest.param("#!/bin/sh\nexit 1\n", id="fails"),
        pytest.param("#!/bin/sh\necho kind v0.32.0 go1.26.0 linux/amd64\n", id="older"),
        pytest.param("#!/nowhere\n", id="without its interpreter"),
    ],
)
@pytest.mark.usefixtures("put_on_path", "published")
def test_damaged_cache_is_replaced(find: Find, folders: Folders, script: str) -> None:
    """A program in the cache that does not answer as it should is installed anew."""
    path = cache(folders, script)
    assert find() == Kind(path, "v0.33.0")
    assert "v0.33.0" in path.read_text()


def test_go_builds_the_pinned_version(
    put_on_path: Put, find: Find, folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Go is asked for the pinned module in a folder of the cache, with the user's own GOFLAGS."""
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    monkeypatch.setenv("GOFLAGS", "-buildvcs=false")
    put_on_path("go", FAKE_GO)
    assert find() == Kind(cached_path(folders), "v0.33.0")
    asked = (tmp_path / "asked").read_text()
    assert asked.startswith(
        f"install sigs.k8s.io/kind@v0.33.0 in {folders.cache}/kind/v0.33.0/.new-"
    )
    assert asked.endswith(" with -buildvcs=false\n")


@pytest.mark.usefixtures("published")
def test_failed_build_falls_back_to_the_release(
    put_on_path: Put, find: Find, said: list[str]
) -> None:
    """A Go that cannot build it, behind a blocked module proxy for one, is not the end."""
    put_on_path("go", "echo 'dial tcp: i/o timeout' >&2; exit 1")
    assert find().version == "v0.33.0"
    assert said == ["failed: Building kind v0.33.0 with Go", "done: Downloading kind v0.33.0"]


@pytest.mark.usefixtures("published")
def test_nothing_else_is_left_in_the_cache(put_on_path: Put, find: Find, folders: Folders) -> None:
    """What a failed way had begun is removed, and so is the folder that the program came in."""
    put_on_path("go", 'echo > "$GOBIN/half"; exit 1')
    find()
    assert [path.name for path in cached_path(folders).parent.iterdir()] == ["kind"]


def test_every_way_and_its_reason_is_told(put_on_path: Put, find: Find, folders: Folders) -> None:
    """Where nothing works the user reads of all four ways, and what to paste."""
    kind = put_on_path("kind", "echo 'No version is set for command kind' >&2; exit 126")
    put_on_path("go", "echo 'go: reading the module' >&2; echo 'i/o timeout' >&2; exit 1")
    with pytest.raises(NotReady) as raised:
        find()
    error = raised.value
    assert error.what == "there is no kind of at least v0.33.0, and none could be installed"
    assert error.seen.splitlines()[:3] == [
        f"on the PATH: {kind} does not say its version: No version is set for command kind",
        f"in the cache: {cached_path(folders)} is not there",
        "built with Go: go exited with 1: i/o timeout",
    ]
    assert "HTTP Error 404" in error.seen.splitlines()[3]
    assert error.commands[0] == "go install sigs.k8s.io/kind@v0.33.0"


def test_cancelled_search_does_not_go_on(
    folders: Folders, progress: Progress, said: list[str]
) -> None:
    """An interrupt ends the search: it is no failure of one way that another makes good."""
    processes = Processes()
    processes.cancel()
    cache(folders, "#!/bin/sh\necho kind v0.33.0\n")
    with pytest.raises(Interrupted):
        find_kind(processes, folders, progress)
    assert said == []


def test_two_labs_at_once_both_get_a_whole_program(
    put_on_path: Put, find: Find, folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither sees what the other has half made, and one program remains."""
    monkeypatch.setenv("ASKED", os.devnull)
    os.mkfifo(tmp_path / "pipe")
    # The first build ends with what the second one says: both are under way at that moment.
    meet = "if /bin/mkdir ../met; then read -r _ < PIPE; /bin/rmdir ../met; else echo > PIPE; fi"
    put_on_path("go", f"{meet.replace('PIPE', str(tmp_path / 'pipe'))}\n{FAKE_GO}")
    with ThreadPoolExecutor() as pool:
        found = [future.result(20) for future in [pool.submit(find), pool.submit(find)]]
    assert found == [Kind(cached_path(folders), "v0.33.0")] * 2
    assert [path.name for path in cached_path(folders).parent.iterdir()] == ["kind"]
