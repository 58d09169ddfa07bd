"""Ascend's resources in both dialects, and what a container gets with them."""

from dataclasses import replace

import pytest

from fake_plugin.errors import WrongUse
from fake_plugin.plan import Share, Sharing
from fake_plugin.vendors import ascend
from fake_plugin.vendors.offer import Refused
from fake_plugin.vendors.place import HostMount, Place
from tests.unit.fake_plugin.vendors.pools import (
    ASCEND,
    ASCEND_A,
    ASCEND_P,
    allocate,
    cards_of,
    cut,
    foreign_variables,
    listed,
    offers_of,
    paths,
    pool,
    sizes,
)

CONTROL = ["/dev/davinci_manager", "/dev/hisi_hdc", "/dev/devmm_svm"]
DIE_1 = "48BC46D9-874E5F2C-87A8B16F-62F1B74F-230BEAD9"
TIMES = Sharing("time-slicing", 2)
PERCENT = Sharing("percentage", 100)


def test_an_npu_is_the_same_for_ever() -> None:
    """Its ID is its number on the node, and its die has a number of its own."""
    card = cards_of(pool(ASCEND, numa=(0, 1)))[1]
    assert (card.uid, card.pci, card.serial) == ("Ascend910-1", "0000:01:00.0", DIE_1)
    assert (card.minor, card.numa, card.model) == (1, 1, ASCEND)


@pytest.mark.parametrize(
    ("share", "names"),
    [
        (pool(ASCEND), {"huawei.com/Ascend910": 2}),
        (pool(ASCEND_A), {"huawei.com/Ascend910": 2}),
        (pool(ASCEND_P), {"huawei.com/Ascend310P": 2}),
        (pool(replace(ASCEND, architecture=None)), {"huawei.com/Ascend910": 2}),
        # The training chapter's own name.
        (pool(ASCEND, alias="huawei.com/ascend-910b"), {"huawei.com/ascend-910b": 2}),
        (
            pool(ASCEND_A, 3, partitions=cut("mixed", {0: ("vir02", "vir02", "vir16")})),
            {
                "huawei.com/Ascend910-2c": 2,
                "huawei.com/Ascend910-16c": 1,
                "huawei.com/Ascend910": 2,
            },
        ),
        (
            pool(ASCEND, 1, partitions=cut("mixed", {0: ("vir05_1c_16g",)})),
            {"huawei.com/Ascend910-5c.1cpu.16g": 1},
        ),
        (
            pool(ASCEND, dialect="hami"),
            {
                "huawei.com/Ascend910B3": 2,
                "huawei.com/Ascend910B3-core": 200,
                "huawei.com/Ascend910B3-memory": 128,
            },
        ),
        (
            pool(ASCEND_P, 1, dialect="hami", sharing=replace(PERCENT, memory_unit_mib=512)),
            {
                "huawei.com/Ascend310P": 1,
                "huawei.com/Ascend310P-core": 100,
                "huawei.com/Ascend310P-memory": 42,
            },
        ),
        (
            pool(ASCEND_A, 1, dialect="hami", sharing=TIMES, alias="a.b/npu"),
            {"a.b/npu": 2, "a.b/npu-core": 100, "a.b/npu-memory": 32},
        ),
    ],
)
def test_resources_are_those_of_the_dialect(share: Share, names: dict[str, int]) -> None:
    """The official plugin names generations, HAMi's names chips."""
    assert sizes(share) == names


@pytest.mark.parametrize(
    ("share", "ids"),
    [
        (pool(ASCEND), ["Ascend910-0", "Ascend910-1"]),
        (pool(ASCEND_P, 1), ["Ascend310P-0"]),
        (pool(ASCEND_P, 1, sharing=TIMES), ["Ascend310P-0-0", "Ascend310P-0-1"]),
        (
            pool(ASCEND_A, partitions=cut("mixed", {0: ("vir02", "vir02"), 1: ("vir02",)})),
            ["Ascend910-2c-100-0", "Ascend910-2c-101-0", "Ascend910-2c-116-1"],
        ),
        (
            pool(ASCEND, partitions=cut("mixed", {1: ("vir10_3c_32g",)}), alias="a.b/c"),
            ["Ascend910-0"],
        ),
    ],
)
def test_official_ids_hold_the_numbers(share: Share, ids: list[str]) -> None:
    """A vNPU's are the template, its own number, which is one on the node, and the NPU's."""
    assert next(iter(listed(share).values())) == ids


@pytest.mark.parametrize(
    ("sharing", "ids"), [(None, [f"{DIE_1}-0"]), (TIMES, [f"{DIE_1}-0", f"{DIE_1}-1"])]
)
def test_hamis_ids_hold_the_number_of_the_die(sharing: Sharing | None, ids: list[str]) -> None:
    """The places of an NPU are numbered also where there is one."""
    share = pool(ASCEND, dialect="hami", sharing=sharing)
    assert listed(share)["huawei.com/Ascend910B3"][-len(ids) :] == ids


def test_a_container_gets_the_numbers_and_the_files() -> None:
    """The variables are those of the vendor's runtime, the files what it makes of them."""
    answer = allocate(pool(ASCEND), 1, 0)
    assert foreign_variables(answer) == {
        "ASCEND_VISIBLE_DEVICES": "1,0",
        "ASCEND_RUNTIME_OPTIONS": "",
    }
    assert paths(answer) == [*CONTROL, "/dev/davinci1", "/dev/davinci0"]
    assert answer.envs["GPULAB_VISIBLE_DEVICES"] == "Ascend910-1,Ascend910-0"


def test_a_vnpu_is_told_by_its_own_number() -> None:
    """The runtime is told that the numbers are those of vNPUs."""
    answer = allocate(pool(ASCEND_A, 1, partitions=cut("mixed", {0: ("vir02", "vir02")})), 1)
    assert foreign_variables(answer) == {
        "ASCEND_VISIBLE_DEVICES": "101",
        "ASCEND_RUNTIME_OPTIONS": "VIRTUAL",
    }
    assert paths(answer) == [*CONTROL, "/dev/davinci101"]


def test_a_second_pools_vnpus_have_numbers_of_their_own() -> None:
    """Both pools' NPUs are counted through, and their vNPUs after them."""
    share = pool(ASCEND_A, 1, partitions=cut("mixed", {0: ("vir02", "vir02")}))
    (offer,) = ascend.offers(share, [ascend.card("worker", share, 0, 3)])
    assert [device.id for device in offer.devices] == [
        "Ascend910-2c-148-3",
        "Ascend910-2c-149-3",
    ]
    answer = offer.answer(offer.devices[1:])
    assert answer.envs["ASCEND_VISIBLE_DEVICES"] == "149"
    assert paths(answer) == [*CONTROL, "/dev/davinci149"]


def test_a_second_pools_npus_have_numbers_of_their_own() -> None:
    """A container gets the file of the NPU's number on the node, not in its pool."""
    share = pool(ASCEND_A, 1)
    (offer,) = ascend.offers(share, [ascend.card("worker", share, 0, 3)])
    answer = offer.answer(offer.devices)
    assert answer.envs["ASCEND_VISIBLE_DEVICES"] == "3"
    assert paths(answer) == [*CONTROL, "/dev/davinci3"]


def test_two_vnpus_are_refused_in_the_plugins_words() -> None:
    """A container can have one of them."""
    with pytest.raises(Refused, match=r"^request more than 1 virtual device, current is 2$"):
        allocate(pool(ASCEND_A, 1, partitions=cut("mixed", {0: ("vir02", "vir02")})), 0, 1)


def test_hami_sets_the_numbers_alone() -> None:
    """It has no other runtime options."""
    answer = allocate(pool(ASCEND, dialect="hami"), 1)
    assert foreign_variables(answer) == {"ASCEND_VISIBLE_DEVICES": "1"}


def test_a_container_is_told_its_part_of_an_npu() -> None:
    """In HAMi's variables and the lab's."""
    offers = [*offers_of(pool(ASCEND, dialect="hami", sharing=PERCENT)).values()][-2:]
    core, memory = [offer.answer(offer.devices[:3]).envs for offer in offers]
    assert (core["GPULAB_CORES_PERCENT"], core["NPU_PRIORITY"]) == ("3", "3")
    assert (memory["GPULAB_MEMORY_MIB"], memory["NPU_MEM_QUOTA"]) == ("3072", "3072")
    assert core["ASCEND_VISIBLE_DEVICES"] == memory["ASCEND_VISIBLE_DEVICES"] == "0"


def test_the_official_plugin_has_no_shares_in_percent() -> None:
    """Its one resource of cores counts those of a node, and needs the vendor's scheduler."""
    with pytest.raises(WrongUse, match=r"huawei\.com/npu-core counts AI cores of a node") as caught:
        offers_of(pool(ASCEND, sharing=PERCENT))
    assert (caught.value.where, caught.value.key) == ("pool p", ("sharing", "strategy"))
    assert caught.value.remedy == "use the dialect hami, or partitions with a layout of vNPUs"


def test_neither_plugin_has_a_preference() -> None:
    """Of shares the lab's own has: without it they would be of any NPU."""
    official = offers_of(pool(ASCEND)).values()
    assert [offer.preferred for offer in official] == [False]
    hami = offers_of(pool(ASCEND, dialect="hami")).values()
    assert [offer.preferred for offer in hami] == [False, True, True]


@pytest.mark.parametrize(
    ("share", "text", "remedy"),
    [
        (
            pool(replace(ASCEND, architecture=None), dialect="hami"),
            "HAMi's resources are named after the chip",
            "give the accelerator's architecture, as 910B3, or use the official dialect",
        ),
        (
            pool(ASCEND, dialect="hami", partitions=cut("mixed", {0: ("vir05_1c_16g",)})),
            "HAMi cuts an NPU when a pod asks for memory of it",
            "leave out the partitions, or use the official dialect",
        ),
        (
            pool(replace(ASCEND, memory_mib=None), dialect="hami"),
            "the accelerator's memory is not known",
            "give memoryMiB in an accelerator of your own",
        ),
        (
            pool(replace(ASCEND, memory_mib=512), dialect="hami"),
            "a unit of memory is larger than the accelerator's memory",
            "share by percentage, with a memoryUnitMiB of 512 or less",
        ),
    ],
)
def test_what_hami_would_not_know_is_refused(share: Share, text: str, remedy: str) -> None:
    """The pool and what to do are said."""
    with pytest.raises(WrongUse, match=text) as caught:
        offers_of(share)
    assert (caught.value.where, caught.value.remedy) == ("pool p", remedy)


def test_ascends_tools_come_with_its_npus() -> None:
    """Read-only."""
    place = Place({"ascend": (HostMount("/host", "/usr/bin/npu-smi"),)})
    (mount,) = allocate(pool(ASCEND), 0, place=place).mounts
    assert (mount.container_path, mount.read_only) == ("/usr/bin/npu-smi", True)
