"""How busy a card is, and what follows from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_plugin.metrics import load
from tests.unit.fake_plugin.metrics.fixtures import NOW

ratios = st.floats(0, 1)


@given(base=ratios, name=st.text(), now=st.floats(0, 4e9))
def test_utilization_stays_a_tenth_below_its_base_at_most(
    base: float, name: str, now: float
) -> None:
    """Whatever the card and the time."""
    assert base * 0.9 - 1e-9 <= load.utilization(base, name, now) <= base


def test_utilization_is_the_same_for_all_who_look_at_one_moment() -> None:
    """It is a function of the name and the time, and of nothing else."""
    assert load.utilization(0.8, "GPU-1", NOW) == load.utilization(0.8, "GPU-1", NOW)


def test_utilization_moves_and_differs_from_card_to_card() -> None:
    """A graph of it is no straight line, and two cards have two lines."""
    first = [load.utilization(0.8, "GPU-1", NOW + minute) for minute in range(0, 120, 10)]
    second = [load.utilization(0.8, "GPU-2", NOW + minute) for minute in range(0, 120, 10)]
    assert max(first) - min(first) > 0.04
    assert first != second


@pytest.mark.parametrize(
    ("utilization", "watts", "celsius", "used"),
    [(0.0, 84.0, 32, 0), (0.5, 392.0, 54, 36702), (1.0, 700.0, 75, 73403)],
)
def test_figures_follow_the_utilization(
    utilization: float, watts: float, celsius: int, used: int
) -> None:
    """Power reaches the model's limit, and memory nine tenths of all."""
    assert load.power(700, utilization) == pytest.approx(watts)
    assert load.temperature(utilization) == celsius
    assert load.memory_temperature(utilization) == celsius + 6
    assert load.memory_used(81559, utilization) == used


@given(total=st.integers(1, 2**20), utilization=ratios)
def test_memory_in_use_and_reserved_fits_into_all(total: int, utilization: float) -> None:
    """What is free is never negative."""
    assert load.memory_used(total, utilization) + load.memory_reserved(total) <= total


@pytest.mark.parametrize(("utilization", "clock"), [(0.0, 210), (0.01, 1410), (1.0, 1410)])
def test_clock_is_up_as_soon_as_there_is_work(utilization: float, clock: int) -> None:
    """It does not follow the utilisation any further."""
    assert load.clock(load.CLOCKS["nvidia"], utilization) == clock
