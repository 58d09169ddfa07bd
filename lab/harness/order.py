"""In which order scenarios are run."""

import random
from collections.abc import Sequence
from itertools import groupby

from lab.harness.scenario import Scenario


def ordered(scenarios: Sequence[Scenario], repeat: int, seed: int | None) -> tuple[Scenario, ...]:
    """Return the scenarios, each so many times: those of one fleet after each other.

    A change of fleets costs seconds. With a seed, which tells the order, they are mixed within
    their fleet, and so are the fleets: what holds in one order alone is found by that.
    """
    by_fleet = sorted(scenarios, key=lambda each: each.fleet)
    groups = [[*of_one] * repeat for _, of_one in groupby(by_fleet, lambda each: each.fleet)]
    if seed is not None:
        chance = random.Random(seed)  # noqa: S311 - an order, and no secret
        chance.shuffle(groups)
        for group in groups:
            chance.shuffle(group)
    return tuple(each for group in groups for each in group)
