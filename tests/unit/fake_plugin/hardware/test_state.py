"""The file that keeps what is broken over restarts."""

import json
import os
import stat
import string
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.state import State, StateFile

NAMES = st.text(string.ascii_letters + "-:/\u00fc\u2028", min_size=1, max_size=60)
BREAKAGES = st.one_of(
    st.just(Breakage()),
    st.integers(1, 200).map(lambda xid: Breakage("xid", str(xid))),
    st.sampled_from(["single-bit", "double-bit"]).map(lambda bit: Breakage("ecc", bit)),
    st.just(Breakage("fault-code", "80E01801")),
)
STATES = st.builds(
    State,
    broken=st.dictionaries(NAMES, BREAKAGES),
    unplugged=st.frozensets(NAMES),
    added=st.dictionaries(NAMES, st.integers(1, 64)),
    resets=st.dictionaries(NAMES, st.integers(1, 10**12)),
)
BROKEN = State(broken={"GPU-1": Breakage("xid", "79")})


def test_a_node_without_a_file_is_sound(tmp_path: Path) -> None:
    """The first start has nothing to remember, and nothing to report."""
    assert StateFile(tmp_path).load() == (State(), None)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(state=STATES)
def test_what_is_saved_is_loaded(tmp_path: Path, state: State) -> None:
    """Every state comes back as it was, through another process's eyes."""
    StateFile(tmp_path).save(state)
    assert StateFile(tmp_path).load() == (state, None)


def test_saving_leaves_nothing_but_the_file(tmp_path: Path) -> None:
    """The file that was written beside it has taken its place."""
    StateFile(tmp_path).save(BROKEN)
    assert [entry.name for entry in tmp_path.iterdir()] == ["hardware.json"]


def test_a_save_that_fails_leaves_the_old_file(
    tmp_path: Path, fill_disk: Callable[[], None]
) -> None:
    """It costs the change and not what was there, and takes no room of what is left."""
    file = StateFile(tmp_path)
    file.save(BROKEN)
    fill_disk()
    with pytest.raises(OSError, match="No space left"):
        file.save(State())
    assert file.load() == (BROKEN, None)
    assert [entry.name for entry in tmp_path.iterdir()] == ["hardware.json"]


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    """A plugin that is killed as it saves, again and again, does not fill the disk."""
    left = tmp_path / ".gpulab-00c0ffee.tmp"
    left.write_text("{")
    os.utime(left, (0, 0))
    assert StateFile(tmp_path).load() == (State(), None)
    assert not left.exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(end=st.integers(0, 10_000), state=STATES)
def test_a_file_cut_short_is_set_aside(tmp_path: Path, end: int, state: State) -> None:
    """However much of it is left, it is never half believed."""
    file = StateFile(tmp_path)
    file.save(state)
    content = file.path.read_bytes()
    # Its last byte is the end of the line, without which it still is whole.
    file.path.write_bytes(content[: end % (len(content) - 1)])
    loaded, aside = file.load()
    assert loaded == State()
    assert aside is not None
    assert aside.read_bytes() == content[: end % (len(content) - 1)]


def edited(content: str, old: str, new: str) -> str:
    """Return a content with one edit, that must have been one."""
    assert old in content
    return content.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"xid"', '"xxx"'),
        ('"79"', '"78"'),
        ('"format":1', '"format":2'),
        ('"content":', '"contents":'),
        ('"unplugged":[]', '"unplugged":["GPU-1"]'),
    ],
)
def test_an_edited_file_is_set_aside(tmp_path: Path, old: str, new: str) -> None:
    """Whoever changes it by hand would not know what goes with what; the control API does."""
    file = StateFile(tmp_path)
    file.save(BROKEN)
    file.path.write_text(edited(file.path.read_text(), old, new))
    assert file.load()[0] == State()
    assert not file.path.exists()


@pytest.mark.parametrize("garbage", [b"", b"\xff\xfe", b"[]", b"null", b"{}", b"[" * 100_000])
def test_garbage_is_set_aside(tmp_path: Path, garbage: bytes) -> None:
    """What is no state at all does not keep the node from starting."""
    file = StateFile(tmp_path)
    file.path.write_bytes(garbage)
    state, aside = file.load()
    assert (state, aside and aside.name.split("-")[0]) == (State(), "hardware.json.corrupt")


def test_a_second_broken_file_does_not_cover_the_first(tmp_path: Path) -> None:
    """All that was set aside can be looked at later."""
    file = StateFile(tmp_path)
    for garbage in ("one", "two"):
        file.path.write_text(garbage)
        file.load()
    kept = sorted(entry.read_text() for entry in tmp_path.iterdir())
    assert kept == ["one", "two"]


def test_the_file_is_readable_json(tmp_path: Path) -> None:
    """Who debugs a node can read it, whoever that is."""
    file = StateFile(tmp_path)
    file.save(BROKEN)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o644
    document = json.loads(file.path.read_text())
    assert document["content"]["broken"] == {"GPU-1": ["xid", "79"]}
