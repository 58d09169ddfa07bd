"""The text format, read back by Prometheus' own parser."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from fake_plugin.metrics.exposition import exposition
from fake_plugin.metrics.families import Family, Labels, Metric, Sample

GAUGE = Metric("some_ratio", "gauge", "Some help.")


def test_family_is_help_type_and_samples_in_order() -> None:
    """Labels come in the order in which they are given."""
    samples = (Sample((("b", "1"), ("a", "2")), 0.5), Sample((), 3))
    assert exposition([Family(GAUGE, samples)]).decode() == (
        "# HELP some_ratio Some help.\n"
        "# TYPE some_ratio gauge\n"
        'some_ratio{b="1",a="2"} 0.5\n'
        "some_ratio 3\n"
    )


def test_family_without_samples_is_left_out() -> None:
    """A type without a value says nothing."""
    assert exposition([Family(GAUGE, ())]) == b""


def test_counter_keeps_its_name() -> None:
    """Vendors have counters without `_total`."""
    energy = Metric("energy", "counter", "Energy.")
    assert exposition([Family(energy, (Sample((), 7),))]).decode().splitlines() == [
        "# HELP energy Energy.",
        "# TYPE energy counter",
        "energy 7",
    ]


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(78.174, 6, "78.174000"), (0, 6, "0.000000"), (7, None, "7"), (0.25, None, "0.25")],
)
def test_number_has_the_decimals_of_its_family(
    value: float, decimals: int | None, text: str
) -> None:
    """DCGM writes six behind every float."""
    line = exposition([Family(GAUGE, (Sample((), value),), decimals)]).decode().splitlines()[-1]
    assert line == f"some_ratio {text}"


def test_time_of_a_sample_stands_behind_its_value() -> None:
    """In milliseconds since the epoch."""
    text = exposition([Family(GAUGE, (Sample((), 1, 1723621883587),))]).decode()
    assert text.endswith("some_ratio 1 1723621883587\n")


def test_hostile_text_cannot_break_a_line() -> None:
    """Quotes, backslashes and ends of lines are escaped; half a character becomes a mark."""
    metric = Metric("x", "gauge", 'one\ntwo \\ "three"')
    text = exposition([Family(metric, (Sample((("a", 'q"\\\n\ud800'),), 1),))]).decode()
    assert text.splitlines() == [
        '# HELP x one\\ntwo \\\\ "three"',
        "# TYPE x gauge",
        'x{a="q\\"\\\\\\n?"} 1',
    ]


label_sets = st.dictionaries(
    st.sampled_from(["pod", "namespace", "model", "device_id"]), st.text(), max_size=4
).map(lambda labels: tuple(labels.items()))
samples_of = st.lists(
    st.tuples(label_sets, st.floats(allow_nan=False) | st.integers(-(2**53), 2**53)),
    min_size=1,
    max_size=5,
)


@given(samples_of)
def test_any_samples_are_read_back_as_they_were(samples: list[tuple[Labels, float]]) -> None:
    """Whatever the labels say, and however large or small the value."""
    family = Family(GAUGE, tuple(Sample(labels, value) for labels, value in samples))
    (read,) = text_string_to_metric_families(exposition([family]).decode())
    assert (read.type, read.documentation) == ("gauge", "Some help.")
    assert [tuple(each.labels.items()) for each in read.samples] == [
        s.labels for s in family.samples
    ]
    for found, given_ in zip(read.samples, family.samples, strict=True):
        assert math.isclose(found.value, given_.value) or found.value == given_.value
