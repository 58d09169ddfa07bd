"""Properties of fleet files that hold for every file."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lab.core.fleet import Fleet, FleetError, Pool, load_fleet
from lab.core.fleet.reading import read_text
from lab.core.fleet.scalars import MOST_DEVICES

LABELS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
RESOURCES = st.builds(
    "{}.example.com/{}".format,
    LABELS,
    st.from_regex(r"[A-Za-z0-9]([-_.A-Za-z0-9]{0,8}[A-Za-z0-9])?", fullmatch=True),
)
ONE_FILE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
VALID = Fleet.default().placed_on(["w1"]).to_yaml()
FRAGMENTS = [
    "- ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    "&a ",
    "*a",
    "<<: ",
    "!!",
    "'",
    '"',
    "|",
    ">",
    "\t",
    "\n",
    "? ",
    "%",
    "---",
    "#",
    "0x",
    "~",
    "1e9",
    "=",
    "\ufeff",
    "\x00",
]


@st.composite
def fleets(draw: st.DrawFn) -> Fleet:
    """Return any valid fleet, placed or not."""
    names = draw(st.lists(LABELS, min_size=1, max_size=4, unique=True))
    pools = tuple(
        Pool(
            name,
            nodes=draw(st.integers(1, 5)),
            resource=draw(RESOURCES),
            count=draw(st.integers(0, MOST_DEVICES)),
            taint=draw(st.booleans()),
        )
        for name in names
    )
    fleet = Fleet(pools)
    workers = [f"worker{at}" for at in range(len(fleet.nodes()))]
    return fleet.placed_on(workers) if draw(st.booleans()) else fleet


@settings(deadline=None)
@given(fleets())
@example(Fleet((Pool("null", 1, "1.example.com/0x1", 0), Pool("1e3", 1, "2.example.com/on", 1))))
def test_written_fleet_loads_back_equal(fleet: Fleet) -> None:
    """What is handed to the plugin says the same as what was read."""
    assert read_text(fleet.to_yaml(), "handed") == fleet


@ONE_FILE
@given(content=st.binary() | st.text().map(str.encode))
def test_any_content_gives_a_fleet_error(tmp_path: Path, content: bytes) -> None:
    """Whatever a file holds, it is a fleet or a `FleetError`, never another failure."""
    file = tmp_path / "f.yaml"
    file.write_bytes(content)
    with pytest.raises(FleetError):
        load_fleet(file)


@settings(deadline=None, max_examples=300)
@given(
    at=st.integers(0, len(VALID)),
    cut=st.integers(0, 12),
    put=st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=3), max_size=4).map("".join),
)
def test_damaged_fleet_gives_a_fleet_or_a_fleet_error(at: int, cut: int, put: str) -> None:
    """A valid file with a hole, or something foreign in it, never fails in another way."""
    with contextlib.suppress(FleetError):
        read_text(VALID[:at] + put + VALID[at + cut :], "damaged")
