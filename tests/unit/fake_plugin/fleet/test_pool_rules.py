"""Rules that it takes two keys of a pool to break."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.fake_plugin.fleet.conftest import MODELS

SLICES = {"strategy": "time-slicing", "replicas": 2}
PERCENT = {"strategy": "percentage"}
HUGE_NPU = MODELS["ascend"] | {"memoryMiB": 2**30}
UNKNOWN = MODELS["nvidia"] | {"memoryMiB": "unknown"}


def layout(*entries: tuple[object, dict[str, int]], strategy: str = "mixed") -> dict[str, Any]:
    """Return partitions of that strategy, given as devices and profiles."""
    return {
        "strategy": strategy,
        "layout": [{"devices": devices, "profiles": profiles} for devices, profiles in entries],
    }


@pytest.mark.parametrize(
    ("pool", "text"),
    [
        (
            {"resource": "a.com/x", "accelerator": MODELS["nvidia"]},
            (
                "resource is given beside accelerator (exactly one of accelerator and resource); "
                "remove one"
            ),
        ),
        (
            {"resource": "a.com/x", "sharing": SLICES},
            "sharing is given without accelerator (it is about a model's cards)",
        ),
        (
            {"resource": "a.com/x", "partitions": layout()},
            "partitions is given without accelerator (it is about a model's cards)",
        ),
        (
            {"resource": "a.com/x", "alias": "b.com/x"},
            "alias is given without accelerator (it is about a model's cards)",
        ),
        (
            {"alias": "gpu"},
            "alias is gpu (needs a vendor domain before a slash, as in example.com/device)",
        ),
        ({"dialect": "hami"}, "dialect is hami (only Ascend's cards have two dialects)"),
        (
            {"numa": [0]},
            "numa has 1 number where count is 2 (one number for each device); make them equal",
        ),
        (
            {"numa": [0, 0, 1]},
            "numa has 3 numbers where count is 2 (one number for each device); make them equal",
        ),
        (
            {"sharing": {"strategy": "mps"}},
            (
                "sharing has no replicas (how many times each device is offered); add it, as in "
                "`replicas: 4`"
            ),
        ),
        (
            {"sharing": PERCENT | {"replicas": 4}},
            (
                "sharing.replicas is given with percentage (a card is 100 units of cores, and its "
                "memory in units of memoryUnitMiB); remove it"
            ),
        ),
        (
            {"sharing": SLICES | {"memoryUnitMiB": 1}},
            "sharing.memoryUnitMiB is given with time-slicing (only percentage has memory units)",
        ),
        (
            {"accelerator": MODELS["amd"], "sharing": SLICES | {"strategy": "mps"}},
            "sharing.strategy is mps (MPS is of NVIDIA's cards); use time-slicing",
        ),
        (
            {"sharing": SLICES | {"strategy": "mps"}, "partitions": {"strategy": "mixed"}},
            (
                "sharing.strategy is mps (NVIDIA's plugin refuses it with the partition "
                "strategy mixed); use time-slicing, or the strategy none"
            ),
        ),
        (
            {
                "sharing": SLICES | {"strategy": "mps"},
                "partitions": layout(("all", {"1g.10gb": 7}), strategy="single"),
            },
            (
                "sharing.strategy is mps (NVIDIA's plugin refuses it for MIG devices); use "
                "time-slicing, or leave the cards whole"
            ),
        ),
        (
            {"sharing": PERCENT, "accelerator": UNKNOWN},
            (
                "sharing.strategy is percentage (a card's memory must be known to be given out in "
                "units); use an accelerator with memoryMiB"
            ),
        ),
        (
            {"sharing": PERCENT | {"memoryUnitMiB": 81560}},
            "sharing.memoryUnitMiB is 81560 (a card has 81559 MiB)",
        ),
        (
            {
                "accelerator": MODELS["nvidia"] | {"memoryMiB": 2**30},
                "sharing": PERCENT | {"memoryUnitMiB": 1},
            },
            (
                "sharing.memoryUnitMiB is 1 (a card of 1073741824 MiB would be more than 100000 "
                "devices); use a unit of 10738 or more"
            ),
        ),
        (
            {"accelerator": HUGE_NPU, "dialect": "hami"},
            (
                "dialect is hami, with units of 1024 MiB (a card of 1073741824 MiB would be more "
                "than 100000 devices); lower memoryMiB, or share by percentage, with a "
                "memoryUnitMiB of 10738"
            ),
        ),
        (
            {"accelerator": HUGE_NPU, "dialect": "hami", "sharing": SLICES},
            (
                "dialect is hami, with units of 1024 MiB (a card of 1073741824 MiB would be more "
                "than 100000 devices); lower memoryMiB, or share by percentage, with a "
                "memoryUnitMiB of 10738"
            ),
        ),
        (
            {"sharing": PERCENT, "partitions": layout()},
            "sharing.strategy is percentage (it divides whole cards); remove partitions",
        ),
        (
            {"partitions": {"layout": []}},
            "partitions has no strategy (none, single or mixed); add it",
        ),
        (
            {"partitions": layout(([0], {"1g.10gb": 7}), ([1, 0], {}))},
            (
                "partitions.layout[1].devices names a card that is named before (a card is cut in "
                "one way)"
            ),
        ),
        (
            {"partitions": layout(([0, 0], {}))},
            (
                "partitions.layout[0].devices names a card that is named before (a card is cut in "
                "one way)"
            ),
        ),
        (
            {"partitions": layout(([0], {}), ("all", {}))},
            (
                "partitions.layout[1].devices names a card that is named before (a card is cut in "
                "one way)"
            ),
        ),
        (
            {"partitions": layout(([2], {"1g.10gb": 1}))},
            "partitions.layout names card 2 (count is 2, and cards count from 0)",
        ),
        (
            {"partitions": layout(([0, 1], {"3g.40gb": 2, "1g.10gb": 1}))},
            "partitions.layout cuts card 0 wrongly (the partitions take 9 of 8 memory slices)",
        ),
        (
            {"partitions": layout(([0], {"1g.10gb": 7}), strategy="single")},
            (
                "partitions do not go together (with single, all cards are cut or none, and card 1 "
                "would be whole)"
            ),
        ),
    ],
    ids=str,
)
def test_keys_that_contradict_each_other_are_refused(
    refusal_of: Callable[..., str], pool: dict[str, Any], text: str
) -> None:
    """The error has the place, the rule, and what to do about it."""
    assert refusal_of(**pool) == text
