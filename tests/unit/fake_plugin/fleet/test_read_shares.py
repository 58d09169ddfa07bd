"""What the keys of a pool become on a node."""

from collections.abc import Callable
from typing import Any

import pytest

from fake_plugin.fleet.accelerators import spelled_out
from fake_plugin.hardware.accelerator import Accelerator, Profile
from fake_plugin.plan import Answering, Partitions, Plan, Share, Sharing
from tests.unit.fake_plugin.fleet.conftest import MODELS

MODEL = Accelerator(
    "h100",
    "nvidia",
    "NVIDIA H100 80GB HBM3",
    memory_mib=81559,
    compute_slices=7,
    memory_slices=8,
    profiles=(Profile("1g.10gb", 7, 1, 1), Profile("3g.40gb", 2, 3, 4, 40192)),
)


def test_an_accelerator_is_read(share_of: Callable[..., Share]) -> None:
    """What is not said of it, or said to be unknown, is None and not 0."""
    assert share_of() == Share("a", "a-0", 2, accelerator=MODEL)
    unknown = MODELS["nvidia"] | {"memoryMiB": "unknown", "powerWatts": "unknown"}
    model = share_of(accelerator=unknown).accelerator
    assert model
    assert (model.memory_mib, model.power_watts) == (None, None)


@pytest.mark.parametrize(
    ("sharing", "by_percentage"),
    [(None, False), (Sharing("mps", 2), False), (Sharing("percentage", 100), True)],
)
def test_cores_and_memory_are_given_out_by_percentage(
    sharing: Sharing | None, *, by_percentage: bool
) -> None:
    """By no other strategy, and not without one."""
    assert Share("a", "a-0", 2, accelerator=MODEL, sharing=sharing).by_percentage is by_percentage


def test_a_model_is_spelled_out_as_it_is_read(share_of: Callable[..., Share]) -> None:
    """The lab writes what the plugin reads."""
    assert share_of(accelerator=spelled_out(MODEL)).accelerator == MODEL


@pytest.mark.parametrize(
    ("keys", "sharing"),
    [
        (
            {"strategy": "time-slicing", "replicas": 4},
            Sharing("time-slicing", 4, rename=False, fail_above_one=False),
        ),
        (
            {"strategy": "time-slicing", "replicas": 2, "failRequestsGreaterThanOne": True},
            Sharing("time-slicing", 2, fail_above_one=True),
        ),
        (
            {"strategy": "mps", "replicas": 10, "rename": True},
            Sharing("mps", 10, rename=True, fail_above_one=True),
        ),
        (
            {"strategy": "mps", "replicas": 10, "failRequestsGreaterThanOne": False},
            Sharing("mps", 10, fail_above_one=False),
        ),
        ({"strategy": "percentage"}, Sharing("percentage", 100, memory_unit_mib=1024)),
        (
            {"strategy": "percentage", "memoryUnitMiB": 256},
            Sharing("percentage", 100, memory_unit_mib=256),
        ),
    ],
    ids=str,
)
def test_sharing_has_the_defaults_of_nvidia(
    share_of: Callable[..., Share], keys: dict[str, Any], sharing: Sharing
) -> None:
    """Two devices of MPS are no larger share: NVIDIA's plugin refuses them by default."""
    assert share_of(sharing=keys).sharing == sharing


def test_partitions_are_listed_for_each_card(share_of: Callable[..., Share]) -> None:
    """A card that is not named is whole, one with no profile is in MIG mode without a partition."""
    layout = [
        {"devices": [2, 0], "profiles": {"3g.40gb": 1, "1g.10gb": 2}},
        {"devices": [3], "profiles": {}},
    ]
    cut = ("3g.40gb", "1g.10gb", "1g.10gb")
    share = share_of(count=5, partitions={"strategy": "mixed", "layout": layout})
    assert share.partitions == Partitions("mixed", {0: cut, 2: cut, 3: ()})


def test_all_cards_can_be_cut_at_once(share_of: Callable[..., Share]) -> None:
    """`all` is every card below the count."""
    layout = [{"devices": "all", "profiles": {"1g.10gb": 7}}]
    share = share_of(count=3, partitions={"strategy": "single", "layout": layout})
    assert share.partitions
    assert {*share.partitions.layout} == {0, 1, 2}


def test_answering_is_read(share_of: Callable[..., Share]) -> None:
    """Its keys are those of NVIDIA's flags."""
    share = share_of(
        answering={
            "deviceListStrategy": ["cdi-cri", "envvar"],
            "deviceIDStrategy": "index",
            "passDeviceSpecs": True,
            "sharedDevicesAllocationPolicy": "packed",
            "cdiAnnotationPrefix": "cdi.example.com/",
            "gdsEnabled": True,
            "mofedEnabled": True,
            "gdrcopyEnabled": True,
        }
    )
    assert share.answering == Answering(
        ("cdi-cri", "envvar"),
        "index",
        pass_device_specs=True,
        replica_policy="packed",
        cdi_annotation_prefix="cdi.example.com/",
        gds=True,
        mofed=True,
        gdrcopy=True,
    )


def test_the_rest_of_a_pool_is_read(plan_of: Callable[..., Plan]) -> None:
    """An alias, a dialect, NUMA nodes, the wish for PreStartContainer, a load."""
    plan = plan_of(
        accelerator=MODELS["ascend"],
        alias="huawei.com/ascend-910b",
        dialect="hami",
        numa=[1, 0],
        preStart=True,
        load={"utilization": 0.5},
    )
    (share,) = plan.shares
    assert (share.alias, share.dialect, share.numa, share.pre_start) == (
        "huawei.com/ascend-910b",
        "hami",
        (1, 0),
        True,
    )
    assert plan.load == {"a": 0.5}


def test_nothing_is_for_a_node_of_no_pool(plan_of: Callable[..., Plan]) -> None:
    """A node outside of the fleet has no shares, no faults, and no load."""
    faults = [{"call": "Allocate", "hang": True}]
    assert plan_of({"faults": faults}, "b-0", load={"utilization": 1}) == Plan()


@pytest.mark.parametrize(
    ("pool", "text"),
    [
        ({"accelerator": "h100"}, "accelerator is a name of the lab's catalogue, which a node"),
        ({"accelerator": 7}, "accelerator must be a mapping"),
        ({"accelerator": {"vendor": "nvidia"}}, "accelerator.name is missing"),
        (
            {"accelerator": MODELS["nvidia"] | {"vendor": "intel"}},
            "accelerator.vendor must be one of nvidia, amd, ascend",
        ),
        (
            {"accelerator": MODELS["nvidia"] | {"memoryMiB": 0}},
            "accelerator.memoryMiB must be a whole number from 1",
        ),
        (
            {"accelerator": MODELS["nvidia"] | {"profiles": MODELS["nvidia"]["profiles"] * 2}},
            "accelerator.profiles[2].name is that of a profile before this one",
        ),
        (
            {"accelerator": MODELS["nvidia"] | {"cores": 4}},
            "accelerator.cores is not something that this plugin acts on",
        ),
        ({"sharing": {"strategy": "fair"}}, "sharing has no replicas (how many times each"),
        (
            {"sharing": {"strategy": "fair", "replicas": 2}},
            "sharing.strategy must be one of time-slicing, mps, percentage",
        ),
        (
            {"sharing": {"strategy": "mps", "replicas": 1}},
            "sharing.replicas must be a whole number from 2 to 100000",
        ),
        (
            {"partitions": {"strategy": "mixed", "layout": [{"devices": [0]}]}},
            "partitions.layout[0].profiles is missing",
        ),
        (
            {"partitions": {"strategy": "mixed", "layout": [{"devices": [], "profiles": {}}]}},
            "partitions.layout[0].devices must be all, or a list of indices",
        ),
        (
            {
                "partitions": {
                    "strategy": "mixed",
                    "layout": [{"devices": [0], "profiles": {"1g.10gb": 0}}],
                }
            },
            "partitions.layout[0].profiles.1g.10gb must be a whole number from 1 to 64",
        ),
        ({"numa": [0, -1]}, "numa must be a list of whole numbers from 0"),
        ({"load": {"utilization": 50}}, "load.utilization must be a number from 0 to 1"),
        ({"load": {"utilization": True}}, "load.utilization must be a number from 0 to 1"),
        (
            {"answering": {"deviceListStrategy": ["cdi"]}},
            "answering.deviceListStrategy must be one of envvar, volume-mounts, cdi-annot",
        ),
        ({"dialect": "cantonese"}, "dialect must be one of official, hami"),
        ({"preStart": 1}, "preStart must be true or false"),
    ],
    ids=str,
)
@pytest.mark.parametrize("node", ["a-0", "elsewhere"])
def test_a_value_of_another_shape_is_refused(
    refusal_of: Callable[..., str], pool: dict[str, Any], text: str, node: str
) -> None:
    """The error has the key, and what its value must be; all nodes judge a file alike."""
    assert refusal_of(node=node, **pool).startswith(text)
