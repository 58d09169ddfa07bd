"""What adds up over time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_plugin.metrics.meter import Meter, Total


def test_meter_begins_with_nothing() -> None:
    """Nothing is known of the time before the first look."""
    assert Meter().read("a", 1000.0, 300.0, 0.5) == Total(0.0, 0.0)


def test_meter_integrates_between_two_looks() -> None:
    """100 W and then 300 W, ten seconds apart, are 2000 J."""
    meter = Meter()
    meter.read("a", 1000.0, 100.0, 0.0)
    assert meter.read("a", 1010.0, 300.0, 1.0) == Total(2000.0, 5.0)


def test_meter_keeps_cards_apart() -> None:
    """What one draws is not what another did."""
    meter = Meter()
    meter.read("a", 0.0, 100.0, 1.0)
    meter.read("b", 0.0, 50.0, 1.0)
    assert meter.read("a", 1.0, 100.0, 1.0).joules == pytest.approx(100.0)
    assert meter.read("b", 1.0, 50.0, 1.0).joules == pytest.approx(50.0)


def test_meter_adds_nothing_while_the_power_is_not_known() -> None:
    """A card that does not answer for a while goes on from where it was."""
    meter = Meter()
    meter.read("a", 0.0, 100.0, 1.0)
    meter.read("a", 10.0, 100.0, 1.0)
    meter.read("a", 20.0, None, 0.0)
    assert meter.read("a", 30.0, 100.0, 1.0).joules == pytest.approx(1000.0)


def test_meter_counts_no_time_twice() -> None:
    """A clock that is set back by a minute stands still for one."""
    meter = Meter()
    for now in (100.0, 40.0, 100.0):
        assert meter.read("a", now, 100.0, 1.0) == Total(0.0, 0.0)


LOOKS = st.tuples(st.floats(0, 4e9), st.none() | st.floats(0, 2000), st.floats(0, 1))


@given(st.lists(LOOKS, max_size=20))
def test_meter_never_falls(looks: list[tuple[float, float | None, float]]) -> None:
    """Counters only grow, though a clock be set back."""
    meter = Meter()
    totals = [meter.read("a", *look) for look in looks]
    joules = [total.joules for total in totals if total.joules is not None]
    assert joules == sorted(joules)
    assert [t.busy_seconds for t in totals] == sorted(t.busy_seconds for t in totals)
