"""Who has which lab, when it is made, and when another fleet is placed on it."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import cast

import pytest

from lab.core.errors import NotReady, UsageError
from lab.core.fleet import Fleet
from lab.harness.leasing import Leases, SetupFailedBefore
from lab.install.backend import NoPlace
from lab.install.status import RunningLab

ONE = Fleet.default()
OTHER = replace(ONE, pools=(replace(ONE.pools[0], count=7),))
BROKEN = NotReady("there is no Docker here")
NO_PLACE = NoPlace("the fleet needs 9 workers")


@dataclass
class Made:
    """Writes down what it is told."""

    told: list[str] = field(default_factory=list)
    error: Exception | None = None
    meanwhile: Callable[[], None] = lambda: None

    def make(self, name: str, fleet: Fleet) -> RunningLab:
        """Make a lab, or fail."""
        self.told.append(f"make {name} {fleet.pools[0].count}")
        self.meanwhile()
        if self.error:
            raise self.error
        return cast("RunningLab", name)

    def take(self, name: str, fleet: Fleet | None) -> RunningLab:
        """Take a lab that is there, or fail."""
        self.told.append(f"place {name} {fleet.pools[0].count}" if fleet else f"take {name}")
        if fleet and self.error:
            raise self.error
        return cast("RunningLab", name)

    def take_down(self, name: str) -> None:
        """Take a lab away."""
        self.told.append(f"take down {name}")


@pytest.fixture
def maker() -> Made:
    """Return a maker."""
    return Made()


@pytest.fixture
def leases(tmp_path: Path, maker: Made) -> Callable[[int], Leases]:
    """Return leases of up to so many labs."""
    return lambda most: Leases("t", tmp_path, most, maker)


def test_a_lab_is_made_once(leases: Callable[[int], Leases], maker: Made) -> None:
    """Every process of the run has leases of its own, and finds the lab that another one made."""
    for _ in range(3):
        with leases(2).lease(ONE, "test") as lab:
            assert lab == cast("RunningLab", "t-0")
    assert maker.told == ["make t-0 2", "take t-0", "take t-0"]


def test_another_fleet_is_placed_on_the_lab_that_is_free(
    leases: Callable[[int], Leases], maker: Made
) -> None:
    """That takes seconds, and another lab a minute."""
    for fleet in (ONE, OTHER, OTHER):
        with leases(2).lease(fleet, "test"):
            pass
    assert maker.told == ["make t-0 2", "place t-0 7", "take t-0"]


def test_two_at_once_have_a_lab_each(leases: Callable[[int], Leases], maker: Made) -> None:
    """And later whoever wants a fleet gets the lab that has it."""
    with leases(2).lease(ONE, "a"), leases(2).lease(OTHER, "b"):
        pass
    with leases(2).lease(OTHER, "c"):
        pass
    assert maker.told == ["make t-0 2", "make t-1 7", "take t-1"]


def test_with_all_labs_in_use_a_test_waits(leases: Callable[[int], Leases], maker: Made) -> None:
    """Until one is given back."""
    entered = threading.Event()

    def second() -> None:
        with leases(1).lease(ONE, "second"):
            entered.set()

    with leases(1).lease(ONE, "first"):
        thread = threading.Thread(target=second)
        thread.start()
        assert not entered.wait(0.5)
    assert entered.wait(10)
    thread.join()
    assert maker.told == ["make t-0 2", "take t-0"]


def test_a_lab_on_which_a_test_broke_off_is_made_anew(
    leases: Callable[[int], Leases], maker: Made
) -> None:
    """Nobody knows what it has left there."""
    with suppress(RuntimeError), leases(1).lease(ONE, "test"):
        raise RuntimeError
    with leases(1).lease(ONE, "next"):
        pass
    assert maker.told == ["make t-0 2", "take down t-0", "make t-0 2"]


def test_what_could_not_be_made_is_not_tried_for_every_test(
    leases: Callable[[int], Leases], maker: Made
) -> None:
    """The first test has the error, and the others refer to it."""
    maker.error = BROKEN
    with pytest.raises(NotReady, match="no Docker"), leases(2).lease(ONE, "first"):
        pytest.fail("there is no lab")
    with pytest.raises(SetupFailedBefore) as raised, leases(2).lease(ONE, "second"):
        pytest.fail("there is no lab")
    assert raised.value.seen == "there is no Docker here"
    assert maker.told.count("make t-0 2") == 1


def test_a_fleet_that_could_not_be_placed_is_not_tried_for_every_test(
    leases: Callable[[int], Leases], maker: Made
) -> None:
    """Nor is the lab made anew: what keeps devices from coming would do so again."""
    with leases(1).lease(ONE, "first"):
        pass
    maker.error = BROKEN
    with pytest.raises(NotReady, match="no Docker"), leases(1).lease(OTHER, "second"):
        pytest.fail("there is no lab")
    with pytest.raises(SetupFailedBefore) as raised, leases(1).lease(ONE, "third"):
        pytest.fail("there is no lab")
    assert raised.value.seen == "there is no Docker here"
    assert maker.told == ["make t-0 2", "place t-0 7"]


def test_a_fleet_that_does_not_fit_is_the_matter_of_its_test(
    leases: Callable[[int], Leases], maker: Made
) -> None:
    """The lab is made anew for the next one, for nobody knows how far it came."""
    with leases(1).lease(ONE, "first"):
        pass
    maker.error = UsageError("the fleet needs 9 workers")
    with pytest.raises(UsageError), leases(1).lease(OTHER, "second"):
        pytest.fail("there is no place for it")
    maker.error = None
    with leases(1).lease(ONE, "third"):
        pass
    assert maker.told[-2:] == ["take down t-0", "make t-0 2"]


def test_a_fleet_without_a_place_leaves_the_lab_as_it_is(
    leases: Callable[[int], Leases], maker: Made
) -> None:
    """Nothing has changed there, so the next test takes the lab with the fleet that it has."""
    with leases(1).lease(ONE, "first"):
        pass
    maker.error = NO_PLACE
    with pytest.raises(NoPlace), leases(1).lease(OTHER, "second"):
        pytest.fail("there is no place for it")
    with leases(1).lease(ONE, "third"):
        pass
    assert maker.told == ["make t-0 2", "place t-0 7", "take t-0"]


def test_a_first_fleet_without_a_place_is_no_failure_of_the_setup(
    leases: Callable[[int], Leases], maker: Made
) -> None:
    """The next one may fit."""
    maker.error = NO_PLACE
    with pytest.raises(NoPlace), leases(1).lease(OTHER, "first"):
        pytest.fail("there is no place for it")
    maker.error = None
    with leases(1).lease(ONE, "second"):
        pass
    assert maker.told == ["make t-0 7", "make t-0 2"]


def test_of_two_that_fail_side_by_side_one_is_told(
    leases: Callable[[int], Leases], maker: Made, tmp_path: Path
) -> None:
    """Both workers began a lab before either knew."""

    def meanwhile() -> None:
        (tmp_path / "failure.txt").write_text("told by another worker")

    maker.meanwhile, maker.error = meanwhile, BROKEN
    with pytest.raises(SetupFailedBefore) as raised, leases(2).lease(ONE, "second"):
        pytest.fail("there is no lab")
    assert raised.value.seen == "told by another worker"


def test_where_another_lab_could_not_be_made_a_test_waits_for_one(
    leases: Callable[[int], Leases], maker: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One lab is slower than two, and better than none."""
    waits = threading.Event()
    monkeypatch.setattr("lab.harness.leasing.time.sleep", lambda _: waits.set())

    def third() -> RunningLab:
        with leases(2).lease(ONE, "third") as lab:
            return lab

    with ThreadPoolExecutor() as threads:
        with leases(2).lease(ONE, "first"):
            maker.error = BROKEN
            with suppress(NotReady), leases(2).lease(ONE, "second"):
                pytest.fail("there is no second lab")
            asked = threads.submit(third)
            assert waits.wait(20)
        assert asked.result(20) == cast("RunningLab", "t-0")


def test_labs_that_were_begun_are_taken_down(leases: Callable[[int], Leases], maker: Made) -> None:
    """Half a lab is something, too; afterwards there is nothing more to do."""
    maker.error = BROKEN
    with suppress(NotReady), leases(3).lease(ONE, "test"):
        pytest.fail("there is no lab")
    leases(3).take_down()
    leases(3).take_down()
    assert maker.told == ["make t-0 2", "take down t-0"]


@pytest.mark.parametrize("look", [1, 2])
def test_a_lab_that_goes_while_it_is_looked_at_is_not_there(
    leases: Callable[[int], Leases], maker: Made, monkeypatch: pytest.MonkeyPatch, look: int
) -> None:
    """Who looks does not have it yet, and who has it lets it go where no fleet has a place."""
    with leases(1).lease(ONE, "first"):
        pass
    looks, read_text = count(1), Path.read_text

    def goes(path: Path, encoding: str) -> str:
        if next(looks) == look:
            path.unlink()
        return read_text(path, encoding)

    monkeypatch.setattr(Path, "read_text", goes)
    with leases(1).lease(ONE, "second"):
        pass
    assert maker.told == ["make t-0 2", "make t-0 2"]
