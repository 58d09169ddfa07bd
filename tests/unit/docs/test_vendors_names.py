"""Names on the page about vendors are those of the code, and the other way round."""

import re

import pytest

from fake_plugin.plan import Share, Sharing
from tests.unit.docs.pages import page
from tests.unit.fake_plugin.vendors.pools import (
    ASCEND,
    ASCEND_A,
    ASCEND_P,
    H100,
    MI300X,
    allocate,
    answering,
    cut,
    offers_of,
    paths,
    pool,
)

PAGE = page("docs/reference/vendors.md")
PERCENT = Sharing("percentage", 100)
CPX = {0: ("cpx_nps1",) * 8}
EXTRAS = answering(pass_device_specs=True, gds=True, mofed=True, gdrcopy=True)
POOLS = [
    pool(H100, answering=EXTRAS),
    pool(H100, answering=answering("volume-mounts")),
    pool(H100, sharing=Sharing("mps", 2)),
    pool(H100, sharing=PERCENT),
    pool(MI300X),
    pool(MI300X, 2, partitions=cut("mixed", CPX)),
    pool(MI300X, sharing=PERCENT),
    pool(ASCEND),
    pool(ASCEND_A, 1, partitions=cut("mixed", {0: ("vir02",)})),
    pool(ASCEND, 1, partitions=cut("mixed", {0: ("vir05_1c_16g",)})),
    pool(ASCEND_P),
    pool(ASCEND, dialect="hami"),
]
#: Of chips and profiles that none of the pools has, a prefix, and the alias of an example.
UNSEEN = {
    "huawei.com/Ascend310",
    "nvidia.com/mig-1g.10gb",
    "nvidia.com/mig-2g.20gb",
    "tke.cloud.tencent.com/qgpu",
}
#: What the page says that the real ones have, beside what is offered here.
NOT_OFFERED = {
    "huawei.com/Ascend310P-IPro",
    "huawei.com/Ascend310P-V",
    "huawei.com/Ascend310P-VPro",
    "huawei.com/AscendReal",
    "huawei.com/kltDev",
    "huawei.com/npu",
    "huawei.com/npu-core",
}


def codes() -> set[str]:
    """Return what the page has in the type of code."""
    return set(re.findall(r"`([^`]+)`", PAGE.prose))


def resources() -> set[str]:
    """Return the resources that the page names in full."""
    prefixes = ("nvidia.com/", "amd.com/", "huawei.com/", "tke.cloud.tencent.com/")
    return {each for each in codes() if each.startswith(prefixes) and "<" not in each}


@pytest.mark.parametrize("share", POOLS)
def test_resources_of_every_kind_of_pool_are_named(share: Share) -> None:
    """A reader finds the key of a pod's limits here."""
    assert set(offers_of(share)) <= resources()


def test_no_resource_is_named_that_is_none() -> None:
    """Each comes from one of the pools, or is told of as one that is not offered here."""
    offered = {name for share in POOLS for name in offers_of(share)}
    assert resources() - offered == UNSEEN | NOT_OFFERED


@pytest.mark.parametrize("share", POOLS)
def test_variables_and_files_are_named(share: Share) -> None:
    """Numbers aside, everything that a container gets is on the page."""
    answer = allocate(share, 0)
    words = re.sub(r"<\w+>", "0", PAGE.text)
    for name in answer.envs:
        assert re.sub(r"(GPULAB_VISIBLE_DEVICES)_.*", r"\1_0", name).rstrip("0") in words
    for path in paths(answer):
        assert re.sub(r"\d+$", "0", path) in words


def test_the_alias_of_the_page_gives_the_names_of_the_page() -> None:
    """It stands for another vendor's names of the same thing."""
    names = set(offers_of(pool(H100, sharing=PERCENT, alias="tencent.com/vcuda")))
    assert names == {"tencent.com/vcuda-core", "tencent.com/vcuda-memory"}
    assert names <= codes()
