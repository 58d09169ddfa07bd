"""Properties of fleet files that hold for every file."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fake_plugin.faults.fault import CODES, Delay, Fail, Fault, Hang
from fake_plugin.fleet.reading import read_plan
from fake_plugin.hardware.accelerator import Accelerator
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.partition_rules import broken_card_rule
from fake_plugin.plan import Answering, Flap, Partitions, Sharing
from fake_plugin.resources.message_limit import MOST_DEVICES
from lab.core.catalogue import catalogue
from lab.core.fleet import Fleet, FleetError, Pool, dump_fleet, load_fleet
from lab.core.fleet.model import NodeFault, NodeFlap
from lab.core.fleet.reading import read_text

LABELS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
RESOURCES = st.builds(
    "{}.example.com/{}".format,
    LABELS,
    st.from_regex(r"[A-Za-z0-9]([-_.A-Za-z0-9]{0,8}[A-Za-z0-9])?", fullmatch=True),
)
ONE_FILE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
VALID = dump_fleet(load_fleet(Path(__file__).parents[3] / "fleets/failing.yaml"))
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


MODELS = [made for model in catalogue().values() if (made := model.accelerator())]
SECONDS = st.integers(1, 999_999).map(lambda number: number / 1000) | st.integers(1, 999_999)
EFFECTS = st.one_of(
    st.builds(Fail, st.text("ab:é '", min_size=1, max_size=9), st.sampled_from(CODES)),
    st.builds(Delay, SECONDS),
    st.just(Hang()),
)


@st.composite
def layouts(draw: st.DrawFn, model: Accelerator, count: int) -> dict[int, tuple[str, ...]]:
    """Return any layout that fits on the cards of a node."""
    layout = {}
    for index in range(count):
        names = draw(st.lists(st.sampled_from([each.name for each in model.profiles]), max_size=4))
        if model.vendor == "amd" and names:
            profile = model.profile(names[0])
            names = names[:1] * (profile.most if profile else 0)
        cut = tuple(sorted(names))
        if broken_card_rule(model, cut) is None:
            layout[index] = cut
    return layout


@st.composite
def pools(draw: st.DrawFn, name: str) -> Pool:
    """Return any pool that breaks no rule."""
    nodes, taint = draw(st.integers(1, 5)), draw(st.booleans())
    if draw(st.booleans()):
        count = draw(st.integers(0, MOST_DEVICES))
        return Pool(
            name,
            nodes,
            draw(RESOURCES),
            count,
            taint=taint,
            pre_start=draw(st.booleans()),
            sticky=draw(st.sampled_from([None, True, False])),
        )
    model, count = draw(st.sampled_from(MODELS)), draw(st.integers(0, 4))
    partitions, is_cut = None, draw(st.booleans())
    if model.profiles and is_cut:
        partitions = Partitions("mixed", draw(layouts(model, count)))
    slices = Sharing("time-slicing", draw(st.integers(2, 9)), draw(st.booleans()))
    return Pool(
        name,
        nodes,
        None,
        count,
        taint=taint,
        accelerator=model,
        alias=draw(st.none() | RESOURCES),
        numa=tuple(draw(st.lists(st.integers(0, 7), min_size=count, max_size=count))),
        sharing=draw(st.sampled_from([None, slices])),
        partitions=partitions,
        answering=Answering(gds=model.vendor == "nvidia" and draw(st.booleans())),
        load=draw(st.none() | st.floats(0, 1)),
    )


@st.composite
def fleets(draw: st.DrawFn) -> Fleet:
    """Return any valid fleet, placed or not, with what goes wrong in it."""
    names = draw(st.lists(LABELS, min_size=1, max_size=4, unique=True))
    made = tuple(draw(pools(name)) for name in names)
    flaps = [
        NodeFlap(
            f"{pool.name}-0",
            Flap(pool.name, 0, draw(SECONDS), draw(st.booleans()), "toggled", Breakage()),
        )
        for pool in made
        if pool.count
    ]
    faults = [
        NodeFault(f"{pool.name}-0", Fault(f"fleet-{at}", "Allocate", draw(EFFECTS), nth=at))
        for at, pool in enumerate(made, 1)
    ]
    fleet = Fleet(made, draw(st.booleans()), tuple(flaps), tuple(faults))
    workers = [f"worker{at}" for at in range(sum(pool.nodes for pool in made))]
    return fleet.placed_on(workers) if draw(st.booleans()) else fleet


@given(fleets())
@example(Fleet((Pool("null", 1, "1.example.com/0x1", 0), Pool("1e3", 1, "2.example.com/on", 1))))
def test_written_fleet_loads_back_equal(fleet: Fleet) -> None:
    """What is handed to the plugin says the same as what was read."""
    assert read_text(dump_fleet(fleet), "handed") == fleet


@ONE_FILE
@given(fleet=fleets())
def test_plugin_reads_every_fleet_that_the_lab_accepts(tmp_path: Path, fleet: Fleet) -> None:
    """Each node has the share, the flaps and the faults that the lab has for it."""
    file = tmp_path / "fleet.yaml"
    file.write_text(dump_fleet(fleet), encoding="utf-8")
    for pool in fleet.pools:
        share = pool.share(0)
        plan = read_plan(file, pool.node_names[0] if pool.node_names else share.member)
        assert (plan.shares, plan.sticky) == ((share,), fleet.sticky)
        assert [*plan.script] == [each.flap for each in fleet.script if each.member == share.member]
        assert [*plan.faults] == [
            each.fault for each in fleet.faults if each.member == share.member
        ]


@ONE_FILE
@given(fleet=fleets())
def test_devices_are_those_of_the_partitions(fleet: Fleet) -> None:
    """A node has a device for each whole card and each partition, times the replicas."""
    for pool in fleet.pools:
        layout = pool.partitions.layout if pool.partitions else {}
        units = pool.count - len(layout) + sum(len(cut) for cut in layout.values())
        replicas = pool.sharing.replicas if pool.sharing else 1
        assert sum(pool.devices().values()) == units * replicas


@ONE_FILE
@given(content=st.binary() | st.text().map(str.encode))
def test_any_content_gives_a_fleet_error(tmp_path: Path, content: bytes) -> None:
    """Whatever a file holds, it is a fleet or a `FleetError`, never another failure."""
    file = tmp_path / "f.yaml"
    file.write_bytes(content)
    with pytest.raises(FleetError):
        load_fleet(file)


@settings(max_examples=300)
@given(
    at=st.integers(0, len(VALID)),
    cut=st.integers(0, 12),
    put=st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=3), max_size=4).map("".join),
)
def test_damaged_fleet_gives_a_fleet_or_a_fleet_error(at: int, cut: int, put: str) -> None:
    """A valid file with a hole, or something foreign in it, never fails in another way."""
    with contextlib.suppress(FleetError):
        read_text(VALID[:at] + put + VALID[at + cut :], "damaged")
