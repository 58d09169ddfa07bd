"""Lists that no kubelet would take are refused, with what would make them shorter."""

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_plugin.errors import WrongUse
from fake_plugin.hardware.board import Board
from fake_plugin.hardware.state import State, StateFile
from fake_plugin.plan import Plan, Share, Sharing
from fake_plugin.resources import list_size
from fake_plugin.resources.inventory import Inventory
from fake_plugin.resources.list_size import refuse_too_long
from fake_plugin.resources.resource import listing_of
from tests.unit.fake_plugin.vendors.pools import ASCEND, H100, MI300X, cut, pool

PERCENT = Sharing("percentage", 100)
TIMES = Sharing("time-slicing", 4)
SEVEN = ("1g.10gb",) * 7
CPX = ("cpx_nps1",) * 8


@pytest.mark.parametrize(
    ("share", "what", "size", "remedy"),
    [
        (
            pool(H100, 100_000),
            "100000 devices of nvidia.com/gpu",
            5_500_000,
            "lower the pool's count to 76260 or less",
        ),
        (
            pool(H100, 10_000, sharing=dataclasses.replace(TIMES, replicas=10)),
            "100000 devices of nvidia.com/gpu",
            5_800_000,
            "lower sharing.replicas to 7 or less, or lower the pool's count to 7231 or less",
        ),
        (
            pool(H100, 8, sharing=dataclasses.replace(PERCENT, memory_unit_mib=1)),
            "652472 devices of tke.cloud.tencent.com/qgpu-memory",
            18_832_808,
            "raise sharing.memoryUnitMiB to 5 or more, or lower the pool's count to 1 or less",
        ),
        (
            pool(
                ASCEND, 64, dialect="hami", sharing=dataclasses.replace(PERCENT, memory_unit_mib=16)
            ),
            "262144 devices of huawei.com/Ascend910B3-memory",
            7_531_136,
            "raise sharing.memoryUnitMiB to 29 or more, or lower the pool's count to 35 or less",
        ),
        (
            # Without percentage the unit has no key of its own.
            pool(dataclasses.replace(ASCEND, memory_mib=65536 * 1024), 4, dialect="hami"),
            "262144 devices of huawei.com/Ascend910B3-memory",
            7_557_736,
            (
                "share by percentage, with a memoryUnitMiB of 1846 or more, "
                "or lower the pool's count to 2 or less"
            ),
        ),
        (
            pool(H100, 12_000, partitions=cut("single", dict.fromkeys(range(12_000), SEVEN))),
            "84000 devices of nvidia.com/gpu",
            4_620_000,
            "cut up fewer cards, or lower the pool's count to 10894 or less",
        ),
    ],
)
def test_a_list_too_long_is_refused_with_what_fits_its_kind(
    share: Share, what: str, size: int, remedy: str
) -> None:
    """Fewer cards always help; so do larger units, fewer replicas and fewer cuts."""
    with pytest.raises(WrongUse) as caught:
        refuse_too_long("worker", share)
    assert caught.value.what == f"{what} are too many for one list"
    assert caught.value.seen == f"the list has up to {size} bytes, and the kubelet takes 4194304"
    assert (caught.value.where, caught.value.remedy) == ("pool p", remedy)


@pytest.mark.parametrize(
    "share",
    [
        pool(H100, 76_260),
        pool(H100, 7231, sharing=dataclasses.replace(TIMES, replicas=10)),
        pool(H100, 10_000, sharing=dataclasses.replace(TIMES, replicas=7)),
        pool(H100, 8, sharing=dataclasses.replace(PERCENT, memory_unit_mib=5)),
        pool(H100, 1, sharing=dataclasses.replace(PERCENT, memory_unit_mib=1)),
        pool(dataclasses.replace(ASCEND, memory_mib=65536 * 1024), 2, dialect="hami"),
        pool(H100, 10_894, partitions=cut("single", dict.fromkeys(range(10_894), SEVEN))),
    ],
)
def test_what_was_suggested_is_taken(share: Share) -> None:
    """Who does as the error says is done."""
    refuse_too_long("worker", share)


def test_a_number_of_replicas_that_nobody_can_mean_is_refused_unmade() -> None:
    """The node's memory does not depend on what somebody wrote into a file."""
    share = pool(H100, 1, sharing=Sharing("time-slicing", 2_000_000_000))
    with pytest.raises(WrongUse, match="2000000000 replicas of a card are too many") as caught:
        refuse_too_long("worker", share)
    assert caught.value.remedy.startswith("lower sharing.replicas to 209715 or less")


def test_a_pool_without_cards_fits() -> None:
    """There is nothing to list."""
    refuse_too_long("worker", pool(H100, 0, sharing=TIMES))


def shares() -> st.SearchStrategy[Share]:
    """Return pools of every kind, with cards that differ in length of name and topology."""
    counts = st.integers(1, 12)
    numa = st.lists(st.integers(0, 200), min_size=12, max_size=12)
    parts = st.dictionaries(st.integers(0, 11), st.sampled_from([SEVEN, (), ("3g.40gb",)]))
    return st.one_of(
        st.builds(lambda n: Share("p", "p-0", n, resource="example.com/device"), counts),
        st.builds(lambda n, at: pool(H100, n, numa=tuple(at[:n])), counts, numa),
        st.builds(
            lambda n, cuts: pool(
                H100,
                n,
                partitions=cut("mixed", {at: each for at, each in cuts.items() if at < n}),
                sharing=TIMES,
            ),
            counts,
            parts,
        ),
        st.builds(
            lambda n: pool(MI300X, n, partitions=cut("single", dict.fromkeys(range(n), CPX))),
            counts,
        ),
        st.builds(lambda n: pool(ASCEND, n, dialect="hami", sharing=PERCENT), counts),
    )


@given(shares())
def test_no_list_is_longer_than_was_told(share: Share) -> None:
    """With every device unhealthy, the real list keeps to the size that was counted on."""
    told = {name: each.size for name, each in list_size.lists_of("worker", share).items()}
    board = Board(StateFile(Path("/nowhere")), State(), sticky=False)
    inventory = Inventory("worker", Plan((share,)), board)
    for resource in inventory.resources:
        message = listing_of(resource.devices, lambda _: False)
        assert message.ByteSize() <= told.get(resource.name, 0)
        assert told.get(resource.name, 0) <= message.ByteSize() * 1.3 + 64
