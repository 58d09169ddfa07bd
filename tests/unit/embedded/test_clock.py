"""Time passes as it is told to, and calls are made when they are due."""

import threading
from functools import partial

import pytest

from lab.embedded.clock import Clock, RealClock, VirtualClock, alarm
from tests.unit.waiting import wait_until


def test_virtual_time_stands_still(clock: VirtualClock) -> None:
    """It is as late as it was advanced to."""
    assert clock.now() == 0
    clock.advance(300)
    clock.advance(0.5)
    assert clock.now() == 300.5


def test_calls_are_made_in_order_each_at_its_time(clock: VirtualClock) -> None:
    """Those of the same moment in the order in which they were asked for."""
    made: list[tuple[str, float]] = []

    def take_down(name: str) -> None:
        made.append((name, clock.now()))

    for name, seconds in (("late", 9.0), ("first", 3.0), ("second", 3.0), ("never", 10.1)):
        clock.call_later(seconds, partial(take_down, name))
    clock.advance(10)
    assert made == [("first", 3.0), ("second", 3.0), ("late", 9.0)]


def test_a_call_may_ask_for_the_next(clock: VirtualClock) -> None:
    """What falls due within the same advance is made within it."""
    made: list[float] = []

    def again() -> None:
        made.append(clock.now())
        clock.call_later(4, again)

    clock.call_later(4, again)
    clock.advance(12)
    assert made == [4, 8, 12]


def test_what_is_still_to_come_is_told(clock: VirtualClock) -> None:
    """Without what was made, or cancelled."""
    for seconds in (9, 3, 1):
        clock.call_later(seconds, lambda: None)
    clock.call_later(5, lambda: None).cancel()
    clock.advance(2)
    assert clock.pending() == [3, 9]


@pytest.mark.parametrize("clock", [VirtualClock(), RealClock(speed=1000)])
def test_a_call_that_was_cancelled_is_not_made(clock: Clock) -> None:
    """Nor does it hold up the others."""
    made = threading.Event()
    clock.call_later(1, lambda: pytest.fail("it was cancelled")).cancel()
    clock.call_later(2, made.set)
    if isinstance(clock, VirtualClock):
        clock.advance(3)
    assert made.wait(10)


def test_an_alarm_rings_only_while_its_body_runs(clock: VirtualClock) -> None:
    """Once the body is over it is silent."""
    rung: list[str] = []
    with alarm(clock, 5, lambda: rung.append("first")):
        clock.advance(6)
    with alarm(clock, 5, lambda: rung.append("second")):
        clock.advance(4)
    clock.advance(9)
    assert rung == ["first"]


def test_real_time_can_run_faster() -> None:
    """An hour passes while a test looks on, and an earlier call is not kept waiting for it."""
    clock = RealClock(speed=36_000)
    order: list[str] = []
    both = threading.Event()
    clock.call_later(3600, lambda: order.append("hour"))
    clock.call_later(60, lambda: order.append("minute"))
    clock.call_later(3601, both.set)
    before = clock.now()
    assert both.wait(10)
    assert order == ["minute", "hour"]
    assert clock.now() - before > 3500


def test_a_clock_without_calls_has_no_thread() -> None:
    """There may be many of them, one for each node, long after the last call."""
    clock = RealClock(speed=1000)
    for _ in range(2):
        made = threading.Event()
        clock.call_later(1, made.set)
        clock.call_later(2, lambda: None).cancel()
        assert made.wait(10)
        wait_until("the end of the thread", lambda: not clock_threads())


def clock_threads() -> list[threading.Thread]:
    """Return the threads that make calls."""
    return [each for each in threading.enumerate() if each.name == "clock"]
