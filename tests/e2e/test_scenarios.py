"""Every scenario holds."""

from collections.abc import Iterator
from itertools import groupby

import pytest
from _pytest.mark import ParameterSet

from lab.harness import Lab, Scenario
from lab.harness.collection import fleet_of, scenarios
from lab.harness.running import within_deadline

#: So many scenarios of one fleet are run one after the other, and other chunks beside them.
CHUNK = 6


def cases() -> Iterator[ParameterSet]:
    """Yield the scenarios: those that take minutes first, and then fleet by fleet."""
    by_fleet = sorted(scenarios(), key=lambda each: (not each.slow, each.fleet))
    for (_, fleet), found in groupby(by_fleet, key=lambda each: (each.slow, each.fleet)):
        for number, each in enumerate(found):
            yield case(each, f"{fleet}-{'slow' if each.slow else number // CHUNK}")


def case(scenario: Scenario, group: str) -> ParameterSet:
    """Return a scenario with what it asks of its lab."""
    marks = (
        pytest.mark.gpu_lab(
            fleet=fleet_of(scenario),
            needs=scenario.needs,
            titles=scenario.titles,
            section=scenario.section,
        ),
        pytest.mark.xdist_group(group),
        # The deadline is the scenario's own; this one is for the lab that it has to get first.
        pytest.mark.timeout(scenario.deadline + 600),
    )
    return pytest.param(scenario, id=scenario.name, marks=marks)


CASES = [*cases()]


def test_there_are_scenarios() -> None:
    """The test below would pass for want of them."""
    assert len(CASES) >= 45


@pytest.mark.parametrize("scenario", CASES)
def test_scenario(scenario: Scenario, gpu_lab: Lab) -> None:
    """A scenario holds on the lab, and leaves it as it was."""
    within_deadline(scenario, gpu_lab)
