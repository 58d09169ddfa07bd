"""Scripts for two kubelets: made from a seed, written, read and shortened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.embedded.kubelet.topology import Policy
from tests.oracle.duel import Difference
from tests.oracle.script import Script, Step, random_script, read_script
from tests.oracle.shrinking import shortest


@given(st.integers(), st.integers(0, 30))
def test_a_script_survives_being_written(seed: int, length: int) -> None:
    """What is replayed is what differed."""
    script = random_script(seed, length)
    assert read_script(script.text()).text() == script.text()


def test_a_seed_is_one_script() -> None:
    """On every machine, and another seed is another one."""
    assert random_script(7, 20) == random_script(7, 20)
    assert random_script(7, 20) != random_script(8, 20)


@given(st.integers())
def test_a_script_begins_with_devices(seed: int) -> None:
    """A plugin registers and lists some, or all that follows would see nothing."""
    first, second, *_ = random_script(seed, 5).steps
    assert (first.op, second.op, first.number) == ("plugin", "list", second.number)


def differ_at(*needed: int) -> "Differ":
    """Return what tells two kubelets apart after the last of these steps, if all are there."""
    return Differ(set(needed))


class Differ:
    """Stands in for a run of both kubelets."""

    def __init__(self, needed: set[int]) -> None:
        self._needed = needed

    def __call__(self, script: Script) -> Difference | None:
        """Return the difference, or None."""
        numbers = [step.number for step in script.steps]
        if not self._needed <= set(numbers):
            return None
        steps = max(numbers.index(each) for each in self._needed) + 1
        return Difference(steps, "admission", "one", "other")


@pytest.mark.parametrize("needed", [(0,), (9,), (0, 9), (3, 4, 7), tuple(range(10))])
def test_what_does_not_matter_is_left_out(needed: tuple[int, ...]) -> None:
    """The steps that are needed remain, in their order."""
    script = Script(Policy.NONE, tuple(Step("admit", number) for number in range(10)))
    differ = differ_at(*needed)
    first = differ(script)
    assert first
    shorter, found = shortest(script, first, differ)
    assert [step.number for step in shorter.steps] == list(needed)
    assert found.steps == len(needed)
