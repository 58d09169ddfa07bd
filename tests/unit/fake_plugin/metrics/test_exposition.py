"""The text format, read back by Prometheus' own parser."""

import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from fake_plugin.metrics.exposition import exposition
from fake_plugin.metrics.families import Family, Labels, Metric, Sample
from tests.unit.fake_plugin.metrics.scrape import text

GAUGE = Metric("some_ratio", "gauge", "Some help.")


def test_family_is_help_type_and_samples_in_order() -> None:
    """Labels come in the order in which they are given."""
    samples = (Sample((("b", "1"), ("a", "2")), 0.5), Sample((), 3))
    assert text([Family(GAUGE, samples)]) == (
        "# HELP some_ratio Some help.\n"
        "# TYPE some_ratio gauge\n"
        'some_ratio{b="1",a="2"} 0.5\n'
        "some_ratio 3\n"
    )


def test_family_without_samples_is_left_out() -> None:
    """A type without a value says nothing."""
    assert text([Family(GAUGE, ())]) == ""


def test_counter_keeps_its_name() -> None:
    """Vendors have counters without `_total`."""
    energy = Metric("energy", "counter", "Energy.")
    assert text([Family(energy, (Sample((), 7),))]).splitlines() == [
        "# HELP energy Energy.",
        "# TYPE energy counter",
        "energy 7",
    ]


@pytest.mark.parametrize(
    ("value", "decimals", "written"),
    [(78.174, 6, "78.174000"), (0, 6, "0.000000"), (7, None, "7"), (0.25, None, "0.25")],
)
def test_number_has_the_decimals_of_its_family(
    value: float, decimals: int | None, written: str
) -> None:
    """DCGM writes six behind every float."""
    line = text([Family(GAUGE, (Sample((), value),), decimals)]).splitlines()[-1]
    assert line == f"some_ratio {written}"


def test_time_of_a_sample_stands_behind_its_value() -> None:
    """In milliseconds since the epoch."""
    found = text([Family(GAUGE, (Sample((), 1, 1723621883587),))])
    assert found.endswith("some_ratio 1 1723621883587\n")


def test_hostile_text_cannot_break_a_line() -> None:
    """Quotes, backslashes and ends of lines are escaped; half a character becomes a mark."""
    metric = Metric("x", "gauge", 'one\ntwo \\ "three"')
    found = text([Family(metric, (Sample((("a", 'q"\\\n\ud800'),), 1),))])
    assert found.splitlines() == [
        '# HELP x one\\ntwo \\\\ "three"',
        "# TYPE x gauge",
        'x{a="q\\"\\\\\\n?"} 1',
    ]


def test_long_family_comes_in_pieces() -> None:
    """Its head once, and no line cut in two: an answer is never whole in memory."""
    samples = (Sample((("a", str(at)),), at) for at in range(1000))
    pieces = list(exposition([Family(GAUGE, samples)]))
    assert len(pieces) == 4
    assert [piece.count(b"# TYPE") for piece in pieces] == [1, 0, 0, 0]
    assert all(piece.endswith(b"\n") for piece in pieces)


def test_samples_are_made_as_they_are_written() -> None:
    """A piece does not wait for the next."""
    made: list[int] = []

    def samples() -> Iterator[Sample]:
        for at in range(1000):
            made.append(at)
            yield Sample((), at)

    next(exposition([Family(GAUGE, samples())]))
    assert len(made) == 256


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
    sent = tuple(Sample(labels, value) for labels, value in samples)
    (read,) = text_string_to_metric_families(text([Family(GAUGE, sent)]))
    assert (read.type, read.documentation) == ("gauge", "Some help.")
    assert [tuple(each.labels.items()) for each in read.samples] == [each.labels for each in sent]
    for found, given_ in zip(read.samples, sent, strict=True):
        assert math.isclose(found.value, given_.value) or found.value == given_.value
