"""What is undone when a test is over."""

import pytest

from lab.core.errors import CheckFailed, Interrupted, UsageError
from lab.harness.afterwards import Afterwards

ENDS = [KeyboardInterrupt("SIGINT"), Interrupted("interrupted by SIGINT")]


def fails() -> None:
    """Fail, as on a node whose kubelet is stopped."""
    raise CheckFailed("the plugin does not answer")


@pytest.mark.parametrize("end", ENDS, ids=["pytest", "gpulab"])
def test_who_asks_for_an_end_while_things_are_undone_gets_it(end: BaseException) -> None:
    """All is tried to be undone; what fails on the way is told beside it."""
    undone: list[str] = []

    def interrupted() -> None:
        raise end

    afterwards = Afterwards()
    afterwards.once("first", undo=lambda: undone.append("first"))
    afterwards.once("second", undo=fails)
    afterwards.once("third", undo=interrupted)
    with pytest.raises(type(end)) as raised, afterwards:
        pass
    assert (undone, raised.value.__notes__) == (["first"], ["the plugin does not answer"])
    assert afterwards.has_failed


def test_what_is_undone_well_is_no_failure() -> None:
    """Whatever the test itself has come to."""
    afterwards = Afterwards()
    afterwards.once("first", undo=lambda: None)
    with pytest.raises(CheckFailed), afterwards:
        fails()
    assert not afterwards.has_failed


def test_a_lab_does_nothing_more_for_a_test_that_is_over() -> None:
    """Of a lab that was kept from one test to the next, only the one is told."""
    with Afterwards() as afterwards:
        pass
    with pytest.raises(UsageError) as raised:
        afterwards.once("late", undo=fails)
    assert raised.value.render() == (
        "the test that this lab was handed to is over\n"
        "  next:  take the lab as an argument in each test that does something to it"
    )
