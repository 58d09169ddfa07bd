"""AMD's resources and what a container gets with them."""

import pytest

from fake_plugin.plan import Share, Sharing
from fake_plugin.vendors.place import HostMount, Place
from tests.unit.fake_plugin.vendors.pools import (
    MI210,
    MI300X,
    allocate,
    cards_of,
    cut,
    listed,
    offers_of,
    parts,
    paths,
    pool,
    sizes,
)

CPX = ("cpx_nps1",) * 8
FIRST, SECOND = "0000:05:00.0", "0000:26:00.0"
#: Public bugs: ROCm/k8s-device-plugin#157, #167 (partitions that were not counted).
EIGHT_IN_CPX = dict.fromkeys(range(8), CPX)


def test_a_card_is_the_same_for_ever() -> None:
    """Its ID is its address, which is its place on the node."""
    card = cards_of(pool(MI300X, numa=(0, 1)))[1]
    assert (card.uid, card.pci, card.numa) == (SECOND, SECOND, 1)
    assert (card.serial, card.minor, card.model) == ("1052860684111", 1, MI300X)


@pytest.mark.parametrize(
    ("share", "names"),
    [
        (pool(MI300X), {"amd.com/gpu": 2}),
        (pool(MI300X, 0), {"amd.com/gpu": 0}),
        (pool(MI300X, alias="a.b/gpu"), {"a.b/gpu": 2}),
        (pool(MI300X, 8, partitions=cut("single", EIGHT_IN_CPX)), {"amd.com/gpu": 64}),
        (pool(MI300X, 8, partitions=cut("mixed", EIGHT_IN_CPX)), {"amd.com/cpx_nps1": 64}),
        (
            pool(MI300X, 3, partitions=cut("mixed", {0: CPX, 1: ("dpx_nps1",) * 2})),
            {"amd.com/cpx_nps1": 8, "amd.com/dpx_nps1": 2, "amd.com/spx_nps1": 1},
        ),
        (pool(MI300X, partitions=cut("mixed", {})), {"amd.com/spx_nps1": 2}),
        # Where there is nothing to cut, the name is the plain one.
        (pool(MI210, partitions=cut("mixed", {})), {"amd.com/gpu": 2}),
        (pool(MI300X, sharing=Sharing("time-slicing", 3)), {"amd.com/gpu": 6}),
        (
            pool(MI300X, 1, sharing=Sharing("percentage", 100)),
            {"amd.com/gpucores": 100, "amd.com/gpumem": 192},
        ),
        (
            pool(MI300X, 1, sharing=Sharing("percentage", 100), alias="a.b/gpu"),
            {"a.b/gpu-core": 100, "a.b/gpu-memory": 192},
        ),
    ],
)
def test_resources_are_those_of_amds_plugin(share: Share, names: dict[str, int]) -> None:
    """Single has one name whatever the mode, mixed one for each mode."""
    assert sizes(share) == names


@pytest.mark.parametrize(
    ("share", "ids"),
    [
        (
            pool(MI300X, partitions=cut("single", {0: ("dpx_nps1",) * 2, 1: ("dpx_nps1",) * 2})),
            [FIRST, "amdgpu_xcp_0", SECOND, "amdgpu_xcp_7"],
        ),
        (
            pool(MI300X, 1, partitions=cut("single", {0: CPX})),
            [FIRST, *(f"amdgpu_xcp_{number}" for number in range(7))],
        ),
        (
            pool(MI300X, sharing=Sharing("time-slicing", 2)),
            [f"{FIRST}-slice-0", f"{FIRST}-slice-1", f"{SECOND}-slice-0", f"{SECOND}-slice-1"],
        ),
    ],
)
def test_devices_are_named_as_the_driver_names_them(share: Share, ids: list[str]) -> None:
    """The first partition is the PCI device, the others are platform devices."""
    assert next(iter(listed(share).values())) == ids


@pytest.mark.parametrize(
    ("share", "wanted", "files"),
    [
        (pool(MI210), [1], ["/dev/dri/card2", "/dev/dri/renderD129"]),
        # Eight numbers to a card that can be cut: renderD128, renderD136, …
        (
            pool(MI300X),
            [1, 0],
            ["/dev/dri/card9", "/dev/dri/renderD136", "/dev/dri/card1", "/dev/dri/renderD128"],
        ),
        (
            pool(MI300X, partitions=cut("single", {0: CPX, 1: CPX})),
            [9],
            ["/dev/dri/card10", "/dev/dri/renderD137"],
        ),
        (
            pool(MI300X, sharing=Sharing("time-slicing", 2)),
            [0, 1],
            ["/dev/dri/card1", "/dev/dri/renderD128"],
        ),
    ],
)
def test_a_container_gets_the_files_of_its_cards(
    share: Share, wanted: list[int], files: list[str]
) -> None:
    """There is one /dev/kfd on a node, and two files for each device."""
    assert paths(allocate(share, *wanted)) == ["/dev/kfd", *files]


def test_a_container_gets_no_variables_of_amds() -> None:
    """The real plugin sets none; ours name the devices, which the tools read."""
    answer = allocate(pool(MI300X), 1)
    assert parts(answer) == ["envs", "devices"]
    assert dict(answer.envs) == {
        "GPULAB_VISIBLE_DEVICES": SECOND,
        "GPULAB_VISIBLE_DEVICES_AMD_COM_GPU": SECOND,
    }


def test_a_container_is_told_its_part_of_the_memory() -> None:
    """In MiB, by the unit of the pool."""
    share = pool(MI300X, 1, sharing=Sharing("percentage", 100, memory_unit_mib=4096))
    _, memory = offers_of(share).values()
    envs = memory.answer(memory.devices[:5]).envs
    assert envs["GPULAB_MEMORY_MIB"] == "20480"
    assert "GPULAB_CORES_PERCENT" not in envs


def test_amds_tools_come_with_amds_cards() -> None:
    """Those of another vendor do not."""
    place = Place({"nvidia": (HostMount("/n", "/n"),), "amd": (HostMount("/host", "/usr/bin/r"),)})
    (mount,) = allocate(pool(MI300X), 0, place=place).mounts
    assert (mount.host_path, mount.container_path, mount.read_only) == ("/host", "/usr/bin/r", True)
