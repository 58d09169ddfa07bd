"""NVIDIA's resources: names, IDs and numbers, by MIG strategy and sharing."""

from dataclasses import replace

import pytest

from fake_plugin.errors import WrongUse
from fake_plugin.plan import Share, Sharing
from fake_plugin.vendors import nvidia
from tests.unit.fake_plugin.vendors.pools import H100, cards_of, cut, listed, offers_of, pool, sizes

SEVEN = ("1g.10gb",) * 7
BALANCED = ("1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb")
TIMES = Sharing("time-slicing", replicas=4)
GPU_0 = "GPU-86197368-681c-5d8e-a647-0d997c819491"


def test_a_gpu_is_the_same_for_ever() -> None:
    """All that names it is in checkpoints, manifests and dashboards."""
    card = cards_of(pool(H100, numa=(1, 0)))[0]
    assert (card.uid, card.pci, card.serial) == (GPU_0, "0000:1b:00.0", "1542808126609")
    assert (card.index, card.minor, card.numa, card.model) == (0, 0, 1, H100)


def test_a_mig_device_is_the_same_for_ever() -> None:
    """So are its GPU's parts, as long as it is cut in the same way."""
    share = pool(H100, 1, partitions=cut("mixed", {0: ("1g.10gb",)}))
    assert listed(share) == {"nvidia.com/mig-1g.10gb": ["MIG-2d076883-ebf9-5d1a-b961-c97833a77100"]}


@pytest.mark.parametrize(
    ("minor", "address"),
    [
        (7, "0000:df:00.0"),
        (8, "1000:00:00.0"),
        (39, "1000:00:1f.0"),
        (40, "1000:01:00.0"),
        (20_000, "1002:70:18.0"),
    ],
)
def test_more_gpus_than_a_server_holds_have_addresses_too(minor: int, address: str) -> None:
    """They are no real machine's, and unique."""
    assert nvidia.card("worker", pool(H100), 0, minor).pci == address


@pytest.mark.parametrize(
    ("share", "names"),
    [
        (pool(H100), {"nvidia.com/gpu": 2}),
        (pool(H100, 0), {"nvidia.com/gpu": 0}),
        (pool(H100, alias="example.com/gpu"), {"example.com/gpu": 2}),
        (pool(H100, partitions=cut("none", {0: SEVEN})), {"nvidia.com/gpu": 2}),
        (pool(H100, partitions=cut("single", {0: SEVEN, 1: SEVEN})), {"nvidia.com/gpu": 14}),
        (
            pool(H100, partitions=cut("mixed", {0: BALANCED})),
            {
                "nvidia.com/mig-1g.10gb": 2,
                "nvidia.com/mig-2g.20gb": 1,
                "nvidia.com/mig-3g.40gb": 1,
                "nvidia.com/gpu": 1,
            },
        ),
        # With all GPUs cut up there is no nvidia.com/gpu, and + is no letter of a resource.
        (
            pool(H100, 1, partitions=cut("mixed", {0: ("1g.10gb+me", "3g.40gb")})),
            {"nvidia.com/mig-1g.10gb.me": 1, "nvidia.com/mig-3g.40gb": 1},
        ),
        # A GPU in MIG mode without MIG devices is offered as nothing.
        (pool(H100, partitions=cut("mixed", {0: ()})), {"nvidia.com/gpu": 1}),
        (pool(H100, sharing=TIMES), {"nvidia.com/gpu": 8}),
        (
            pool(H100, sharing=Sharing("time-slicing", 4, rename=True)),
            {"nvidia.com/gpu.shared": 8},
        ),
        (pool(H100, sharing=Sharing("mps", 10)), {"nvidia.com/gpu": 20}),
        (
            pool(
                H100,
                1,
                partitions=cut("mixed", {0: BALANCED}),
                sharing=Sharing("time-slicing", 2, rename=True),
            ),
            {
                "nvidia.com/mig-1g.10gb.shared": 4,
                "nvidia.com/mig-2g.20gb.shared": 2,
                "nvidia.com/mig-3g.40gb.shared": 2,
            },
        ),
        (
            pool(H100, sharing=Sharing("percentage", 100)),
            {"tke.cloud.tencent.com/qgpu-core": 200, "tke.cloud.tencent.com/qgpu-memory": 158},
        ),
        (
            pool(
                H100, 1, sharing=Sharing("percentage", 100, memory_unit_mib=8192), alias="a.b/gpu"
            ),
            {"a.b/gpu-core": 100, "a.b/gpu-memory": 9},
        ),
    ],
)
def test_resources_are_those_of_nvidias_plugin(share: Share, names: dict[str, int]) -> None:
    """Each strategy has names and numbers of its own."""
    assert sizes(share) == names


def test_replicas_are_numbered_as_nvidia_numbers_them() -> None:
    """Their hardware is the GPU, of which there is one."""
    share = pool(H100, 1, sharing=Sharing("time-slicing", 2))
    (offer,) = offers_of(share).values()
    assert [device.id for device in offer.devices] == [f"{GPU_0}::0", f"{GPU_0}::1"]
    assert {device.unit for device in offer.devices} == {GPU_0}


def test_a_shared_resource_says_how_to_spread() -> None:
    """The policy is one for replicas; shares of a card are kept together."""
    (shared,) = offers_of(pool(H100, sharing=TIMES)).values()
    core, memory = offers_of(pool(H100, sharing=Sharing("percentage", 100))).values()
    assert (shared.spread, core.spread, memory.spread) == ("distributed", "together", "together")


def test_shares_of_cores_and_memory_have_short_and_different_names() -> None:
    """A kubelet looks for a device by its ID alone when its health changes."""
    core, memory = listed(pool(H100, sharing=Sharing("percentage", 100))).values()
    assert (core[0], core[-1], memory[0], memory[-1]) == (
        "nvidia0-c0",
        "nvidia1-c99",
        "nvidia0-m0",
        "nvidia1-m78",
    )


def test_a_gpu_that_was_added_is_cut_as_the_first_where_all_are_alike() -> None:
    """Otherwise the plugin would refuse to start again; where they differ, it is whole."""
    single = pool(H100, 1, partitions=cut("single", {0: ("3g.40gb", "3g.40gb")}))
    mixed = pool(H100, 1, partitions=cut("mixed", {0: ("3g.40gb", "3g.40gb")}))
    added = nvidia.card("worker", single, 1, 1)
    (offer,) = nvidia.offers(single, [added])
    assert [(each.partition and each.partition.index) for each in offer.devices] == [0, 1]
    (offer,) = nvidia.offers(mixed, [added])
    assert (offer.resource, offer.devices[0].id) == ("nvidia.com/gpu", added.uid)


@pytest.mark.parametrize(
    ("memory", "unit", "text"),
    [
        (None, 1024, "memory is not known"),
        (8192, 8193, "a unit of memory is larger than"),
    ],
)
def test_memory_that_cannot_be_shared_out_is_refused(
    memory: int | None, unit: int, text: str
) -> None:
    """Nothing that is unknown counts as 0, and 0 units are no offer."""
    model = replace(H100, memory_mib=memory)
    with pytest.raises(WrongUse, match=text):
        offers_of(pool(model, sharing=Sharing("percentage", 100, memory_unit_mib=unit)))
