"""The schema that all vendors share: sums are right, and nothing stands for the unknown."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample
from syrupy.assertion import SnapshotAssertion

from fake_plugin.hardware.accelerator import Accelerator
from fake_plugin.hardware.board import Board
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.card import Card, Partition
from fake_plugin.hardware.reading import Holder, Reading
from fake_plugin.metrics import unified
from fake_plugin.metrics.families import Family
from fake_plugin.metrics.history import History
from tests.unit.fake_plugin.metrics.fixtures import (
    ASCEND,
    CPX,
    H100,
    MI300X,
    NODE,
    SLICE,
    UNKNOWN,
    card,
    idle,
    part,
    pod,
    reading,
)
from tests.unit.fake_plugin.metrics.scrape import LARGEST, kept, names, samples, text, values

LABELS: Final = [
    "vendor", "model", "device_id", "index", "partition", "node", "namespace", "pod", "container",
]  # fmt: skip
FOUR: Final = tuple(pod(f"pod-{number}") for number in range(4))


def of(history: History, *readings: Reading) -> list[Family]:
    """Return the families of readings."""
    return kept(unified.families(readings, history, NODE))


def named(families: Sequence[Family], name: str) -> list[Sample]:
    """Return the samples of one metric."""
    return [each for each in samples(families) if each.name == name]


def slices(number: int, *holders: Holder) -> list[Reading]:
    """Return the partitions of one GPU; the first ones are held, each by one of the holders."""
    gpu = card(H100)
    parts = [part(gpu, at, SLICE) for at in range(number)]
    held = [reading(gpu, each, holder) for each, holder in zip(parts, holders, strict=False)]
    return [*held, *(idle(gpu, each) for each in parts[len(holders) :])]


def test_answer_of_all_vendors(history: History, snapshot: SnapshotAssertion) -> None:
    """Every vendor, a plain device, replicas and partitions, side by side."""
    readings = [
        reading(card(H100, 1), None, *FOUR),
        *slices(2, pod("train", "ml", "cuda")),
        reading(card(MI300X), None, pod("serve")),
        idle(card(ASCEND)),
        idle(card(None)),
    ]
    assert text(of(history, *readings)) == snapshot


def test_power_of_a_shared_card_is_there_once(history: History) -> None:
    """Four pods share a card of 200 W: the sum is 200 W, and not 800 (dcgm-exporter#201)."""
    assert values(of(history, reading(card(H100), None, *FOUR)), "accel_power_watts") == [200.0]


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("accel_power_watts", 200.0),
        ("accel_energy_joules_total", 1500.5),
        ("accel_memory_used_bytes", 2 * 4096 * 2**20),
        ("accel_memory_total_bytes", 7 * 9984 * 2**20),
        ("accel_healthy", 7),
    ],
)
def test_sums_over_partitions_are_those_of_the_card(
    history: History, name: str, total: float
) -> None:
    """What a card has is there once; what each part has is there for each."""
    assert sum(values(of(history, *slices(7, *FOUR[:2])), name)) == total


def test_shares_of_a_device_add_up_to_it(history: History) -> None:
    """Each of four has a quarter, and is said to share."""
    shares = named(of(history, reading(card(H100), None, *FOUR)), "accel_holder_share_ratio")
    assert [(each.labels["pod"], each.value) for each in shares] == [
        (f"pod-{number}", 0.25) for number in range(4)
    ]
    assert {each.labels["shared"] for each in shares} == {"true"}


def test_holder_alone_has_all_of_it(history: History) -> None:
    """And a device that nobody holds has no share to give."""
    families = of(history, reading(card(H100), None, pod("one")), idle(card(H100, 1)))
    (share,) = named(families, "accel_holder_share_ratio")
    assert (share.value, share.labels["shared"]) == (1.0, "false")


def test_shared_device_is_put_down_to_none_of_its_pods(history: History) -> None:
    """Its figures are of all of them."""
    families = of(history, reading(card(H100), None, *FOUR), reading(card(H100, 1), None, FOUR[0]))
    found = [each.labels["pod"] for each in named(families, "accel_utilization_ratio")]
    assert found == ["", "pod-0"]


def test_card_of_one_pods_partitions_is_that_pods(history: History) -> None:
    """With a second pod on it, its power is nobody's."""
    alone = of(history, *slices(3, FOUR[0], FOUR[0]))
    shared = of(history, *slices(3, *FOUR[:2]))
    assert [each.labels["pod"] for each in named(alone, "accel_power_watts")] == ["pod-0"]
    assert [each.labels["pod"] for each in named(shared, "accel_power_watts")] == [""]


def test_labels_come_in_the_order_of_the_schema(history: History) -> None:
    """The sensor, the kind of error and the sharing come last."""
    found = {
        each.name: list(each.labels)
        for each in samples(of(history, reading(card(H100), None, FOUR[0])))
    }
    assert found["accel_power_watts"] == LABELS
    assert found["accel_temperature_celsius"] == [*LABELS, "sensor"]
    assert found["accel_errors_total"] == [*LABELS, "kind"]
    assert found["accel_holder_share_ratio"] == [*LABELS, "shared"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("accel_utilization_ratio", 0.75),
        ("accel_memory_used_bytes", 4096 * 2**20),
        ("accel_memory_total_bytes", 8192 * 2**20),
        ("accel_power_watts", 200.0),
        ("accel_energy_joules_total", 1500.5),
        ("accel_healthy", 1),
    ],
)
@pytest.mark.parametrize("model", [H100, MI300X])
def test_value_is_in_base_units(
    history: History, model: Accelerator, name: str, value: float
) -> None:
    """Ratios, bytes, watts and joules, whatever the vendor counts in."""
    assert values(of(history, reading(card(model))), name) == [value]


def test_energy_of_ascend_is_not_invented(history: History) -> None:
    """Its exporter has no such figure."""
    families = of(history, reading(card(ASCEND)))
    assert "accel_energy_joules_total" not in names(families)
    assert values(families, "accel_power_watts") == [200.0]


@pytest.mark.parametrize(
    ("model", "device_id"),
    [
        (H100, card(H100).uid),
        (MI300X, "SN0"),
        (ASCEND, "SN0"),
        (None, "fake-0"),
    ],
)
def test_device_is_named_as_in_its_vendors_metrics(
    history: History, model: Accelerator | None, device_id: str
) -> None:
    """UUID, serial number or die: the two can be joined."""
    (health,) = named(of(history, idle(card(model))), "accel_healthy")
    assert health.labels["device_id"] == device_id


def test_plain_device_has_health_and_load_only(history: History) -> None:
    """It is no model of anything, and has no sensors."""
    bare = replace(
        idle(card(None)),
        memory_used_mib=None,
        memory_total_mib=None,
        power_watts=None,
        energy_joules=None,
        temperature_celsius=None,
        memory_temperature_celsius=None,
    )
    assert names(of(history, bare)) == ["accel_utilization_ratio", "accel_healthy"]


def test_lost_card_has_health_and_errors_only(hardware: Board, history: History) -> None:
    """0 % busy would be a figure, and there is none."""
    lost = Breakage("xid", "79")
    hardware.break_units([card(H100).uid], lost)
    gone = replace(
        reading(card(H100)),
        healthy=False,
        breakage=lost,
        memory_used_mib=None,
        memory_total_mib=None,
        power_watts=None,
        energy_joules=None,
        temperature_celsius=None,
        memory_temperature_celsius=None,
    )
    families = of(history, gone)
    assert names(families) == ["accel_healthy", "accel_errors_total"]
    assert values(families, "accel_healthy") == [0]


def test_sensors_of_a_card_do_not_go_with_one_of_its_partitions(history: History) -> None:
    """As long as one of the others answers."""
    first, second = slices(2)
    lost = replace(first, breakage=Breakage("xid", "79"), power_watts=None)
    assert values(of(history, lost, second), "accel_power_watts") == [200.0]


def test_errors_begin_at_zero_and_count_by_kind(hardware: Board, history: History) -> None:
    """So that a rate sees the first of them; kinds that a vendor has not come as they happen."""
    gpu = card(H100)

    def counted() -> dict[str, float]:
        found = named(of(history, reading(gpu)), "accel_errors_total")
        return {each.labels["kind"]: each.value for each in found}

    assert counted() == {"xid": 0, "ecc": 0}
    for breakage in (Breakage("xid", "74"), Breakage("xid", "79"), Breakage()):
        hardware.break_units([gpu.uid], breakage)
    assert counted() == {"xid": 2, "ecc": 0, "unspecified": 1}


def test_error_of_a_partition_is_told_as_its_own(hardware: Board, history: History) -> None:
    """The card's own stay as they are."""
    first, second = slices(2)
    hardware.break_units([first.unit], Breakage("xid", "94"))
    found = named(of(history, first, second), "accel_errors_total")
    assert [(e.labels["partition"], e.labels["kind"], e.value) for e in found] == [
        ("", "xid", 0),
        ("", "ecc", 0),
        (first.unit, "xid", 1),
    ]


def test_error_of_amds_first_partition_is_counted_once(hardware: Board, history: History) -> None:
    """It has the name of the card, and is the card's."""
    gpu = card(MI300X)
    parts = [reading(gpu, part(gpu, at, CPX)) for at in range(2)]
    hardware.break_units([gpu.uid], Breakage("ecc", "double-bit"))
    assert values(of(history, *parts), "accel_errors_total") == [1]


figures = st.none() | st.integers(0, 2**20)
floats = st.none() | st.floats(0, 1e9)
holders = st.lists(st.builds(Holder, st.text(), st.text(), st.text()), max_size=3, unique=True).map(
    tuple
)


def parts_of(of_card: Card, number: int) -> list[Partition | None]:
    """Return that many partitions of a card, or what stands for all of it."""
    return [part(of_card, at, SLICE) for at in range(number)] or [None]


@st.composite
def readings(draw: st.DrawFn) -> list[Reading]:
    """Return readings of several cards, whole or in parts, with any figures and any names."""
    found: list[Reading] = []
    for minor in range(draw(st.integers(0, 3))):
        model = draw(st.sampled_from([H100, MI300X, ASCEND, UNKNOWN, None]))
        of_card = card(model, minor)
        cut = draw(st.integers(0, 3)) if model else 0
        found += [
            replace(
                reading(of_card, each, *draw(holders)),
                healthy=draw(st.booleans()),
                utilization=draw(st.floats(0, 1)),
                memory_used_mib=draw(figures),
                memory_total_mib=draw(figures),
                power_watts=draw(floats),
                energy_joules=draw(floats),
                temperature_celsius=draw(figures),
            )
            for each in parts_of(of_card, cut)
        ]
    return found


@given(readings())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_readings_are_read_back_as_they_were(history: History, given_: list[Reading]) -> None:
    """Every sample once, with its labels and value; no NaN and no blank among them."""
    families = of(history, *given_)
    sent = [
        (family.metric.name.removesuffix("_total"), each)
        for family in families
        for each in family.samples
    ]
    read = [
        (family.name, each)
        for family in text_string_to_metric_families(text(families))
        for each in family.samples
    ]
    for (sent_name, before), (read_name, after) in zip(sent, read, strict=True):
        assert sent_name == read_name
        assert dict(before.labels) == dict(after.labels)
        assert math.isclose(before.value, after.value)
        assert math.isfinite(after.value)
        assert after.value < LARGEST


@given(readings())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_two_samples_have_the_same_labels(history: History, given_: list[Reading]) -> None:
    """A Prometheus would refuse the whole answer."""
    found = [(each.name, *each.labels.items()) for each in samples(of(history, *given_))]
    assert len(found) == len(set(found))
