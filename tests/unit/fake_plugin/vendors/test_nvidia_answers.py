"""What a container gets with NVIDIA's devices, by device list strategy: exactly, and no more."""

import re
from dataclasses import replace

import pytest

from fake_plugin.cdi.devices import specs_of
from fake_plugin.device import Device
from fake_plugin.plan import Share, Sharing
from fake_plugin.vendors.nvidia.cdi import cdi_devices
from fake_plugin.vendors.offer import Refused
from fake_plugin.vendors.place import HostMount, Place
from tests.unit.fake_plugin.vendors.pools import (
    H100,
    allocate,
    answering,
    cards_of,
    cut,
    foreign_variables,
    listed,
    parts,
    paths,
    pool,
)

A, B = (card.uid for card in cards_of(pool(H100)))
(MIG,) = listed(pool(H100, 1, partitions=cut("single", {0: ("3g.40gb",)})))["nvidia.com/gpu"]
CDI = "k8s.device-plugin.nvidia.com/gpu="
LIST = "/var/run/nvidia-container-devices"
CONTROL = ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"]
TIMES = Sharing("time-slicing", 2)


@pytest.mark.parametrize(
    ("share", "wanted", "names"),
    [
        (pool(H100), [1, 0], f"{B},{A}"),
        (pool(H100, answering=answering(id_strategy="index")), [1, 0], "1,0"),
        (pool(H100, 1, partitions=cut("single", {0: ("3g.40gb",)})), [0], MIG),
        (
            pool(
                H100,
                partitions=cut("single", {0: ("1g.10gb",), 1: ("1g.10gb",) * 2}),
                answering=answering(id_strategy="index"),
            ),
            [2, 0],
            "1:1,0:0",
        ),
        # A GPU is named as often as a replica of it is given, as there.
        (pool(H100, sharing=TIMES), [0, 1, 2], f"{A},{A},{B}"),
        (pool(H100, sharing=Sharing("percentage", 100)), [0, 1, 100], f"{A},{B}"),
    ],
)
def test_envvar_names_the_devices(share: Share, wanted: list[int], names: str) -> None:
    """NVIDIA's container runtime reads this variable, and nothing else is there."""
    answer = allocate(share, *wanted)
    assert foreign_variables(answer) == {"NVIDIA_VISIBLE_DEVICES": names}
    assert parts(answer) == ["envs"]


def test_volume_mounts_name_the_devices_by_mounts() -> None:
    """A pod cannot write these into its own spec, as it can a variable."""
    answer = allocate(pool(H100, answering=answering("volume-mounts")), 0, 1)
    assert foreign_variables(answer) == {"NVIDIA_VISIBLE_DEVICES": LIST}
    assert [(each.host_path, each.container_path) for each in answer.mounts] == [
        ("/dev/null", f"{LIST}/{A}"),
        ("/dev/null", f"{LIST}/{B}"),
    ]


def test_replicas_of_one_gpu_are_one_mount() -> None:
    """A path can be mounted once."""
    answer = allocate(pool(H100, sharing=TIMES, answering=answering("volume-mounts")), 0, 1)
    assert [each.container_path for each in answer.mounts] == [f"{LIST}/{A}"]


def test_cdi_cri_names_the_devices_to_the_runtime() -> None:
    """No variable of NVIDIA's is set, so that no other runtime acts on them as well."""
    answer = allocate(pool(H100, answering=answering("cdi-cri")), 1)
    assert [each.name for each in answer.cdi_devices] == [CDI + B]
    assert not foreign_variables(answer)
    assert parts(answer) == ["envs", "cdi_devices"]


@pytest.mark.parametrize(
    ("prefix", "key"),
    [
        ("cdi.k8s.io/", r"cdi\.k8s\.io/nvidia-device-plugin_[0-9a-f-]{36}"),
        ("nvidia.cdi.k8s.io/", r"nvidia\.cdi\.k8s\.io/nvidia-device-plugin_[0-9a-f-]{36}"),
    ],
)
def test_cdi_annotations_have_a_key_of_their_own(prefix: str, key: str) -> None:
    """Two allocations of one container must not overwrite each other's."""
    share = pool(H100, answering=answering("cdi-annotations", cdi_annotation_prefix=prefix))
    first, second = allocate(share, 0, 1), allocate(share, 0, 1)
    assert set(first.annotations) != set(second.annotations)
    ((name, value),) = first.annotations.items()
    assert re.fullmatch(key, name)
    assert value == f"{CDI}{A},{CDI}{B}"


def test_strategies_can_be_combined() -> None:
    """A container gets what each of them says."""
    answer = allocate(pool(H100, answering=answering("envvar", "cdi-cri", id_strategy="index")), 1)
    assert foreign_variables(answer) == {"NVIDIA_VISIBLE_DEVICES": "1"}
    assert [each.name for each in answer.cdi_devices] == [CDI + "1"]


@pytest.mark.parametrize(
    ("share", "wanted", "files"),
    [
        (pool(H100), [1, 0], ["/dev/nvidia1", "/dev/nvidia0"]),
        (pool(H100, sharing=TIMES), [0, 1], ["/dev/nvidia0"]),
        (
            pool(H100, partitions=cut("mixed", {1: ("1g.10gb", "1g.10gb")}), alias="a.b/c"),
            [0],
            ["/dev/nvidia0"],
        ),
        (
            pool(H100, partitions=cut("mixed", {0: ("1g.10gb", "3g.40gb", "1g.10gb"), 1: ()})),
            [1],
            [
                "/dev/nvidia0",
                "/dev/nvidia-caps/nvidia-cap75",
                "/dev/nvidia-caps/nvidia-cap76",
            ],
        ),
        (
            pool(H100, partitions=cut("single", dict.fromkeys(range(2), ("1g.10gb",) * 2))),
            [1, 2],
            [
                "/dev/nvidia0",
                "/dev/nvidia-caps/nvidia-cap75",
                "/dev/nvidia-caps/nvidia-cap76",
                "/dev/nvidia1",
                "/dev/nvidia-caps/nvidia-cap201",
                "/dev/nvidia-caps/nvidia-cap202",
            ],
        ),
    ],
)
def test_device_specs_are_files_of_the_gpu(
    share: Share, wanted: list[int], files: list[str]
) -> None:
    """First come the files of the driver, and a MIG device has those of its capabilities.

    Their numbers follow the GPU instance, which is 7 or 8 here, and 1 and 2 for halves.
    """
    share = with_answering(share, pass_device_specs=True)
    assert paths(allocate(share, *wanted)) == CONTROL + files


@pytest.mark.parametrize(
    ("strategies", "files"),
    [
        (["envvar"], [*CONTROL, "/dev/nvidia0"]),
        (["volume-mounts"], [*CONTROL, "/dev/nvidia0"]),
        (["cdi-cri"], []),
        (["cdi-annotations"], []),
    ],
)
def test_device_specs_come_with_all_strategies_but_those_of_cdi(
    strategies: list[str], files: list[str]
) -> None:
    """With CDI alone, the runtime makes the files."""
    share = with_answering(pool(H100), *strategies, pass_device_specs=True)
    assert paths(allocate(share, 0)) == files


def with_answering(share: Share, *strategies: str, **keys: object) -> Share:
    """Return a share that is answered for in this way."""
    return replace(share, answering=answering(*strategies, **keys))


@pytest.mark.parametrize(
    ("strategies", "variables", "names"),
    [
        (
            ["envvar"],
            {"NVIDIA_GDRCOPY": "enabled", "NVIDIA_GDS": "enabled", "NVIDIA_MOFED": "enabled"},
            [],
        ),
        (
            ["volume-mounts"],
            {"NVIDIA_GDRCOPY": "enabled", "NVIDIA_GDS": "enabled", "NVIDIA_MOFED": "enabled"},
            [],
        ),
        (["cdi-cri"], {}, ["gpu=" + A, "gdrcopy=all", "gds=all", "mofed=all"]),
    ],
)
def test_extras_are_variables_or_cdi_devices(
    strategies: list[str], variables: dict[str, str], names: list[str]
) -> None:
    """With CDI alone, the runtime is told of them by name."""
    share = with_answering(pool(H100), *strategies, gds=True, mofed=True, gdrcopy=True)
    answer = allocate(share, 0)
    set_ = foreign_variables(answer)
    set_.pop("NVIDIA_VISIBLE_DEVICES", None)
    assert set_ == variables
    assert [each.name.partition("/")[2] for each in answer.cdi_devices] == names


def test_extras_are_published_beside_gpus_alone() -> None:
    """A pool whose GPUs are all unplugged, or cut up, has nothing that they would come with."""
    share = with_answering(pool(H100), "cdi-cri", gds=True)
    gpu = Device(A, cards_of(share)[0])
    published = cdi_devices(share, [gpu])
    assert [(each.class_, list(each.devices)) for each in published] == [
        ("gpu", [A]),
        ("gds", ["all"]),
    ]
    assert specs_of(cdi_devices(share, [])) == {}


def test_mps_says_where_its_pipes_are() -> None:
    """Also with CDI alone; of its folders there are none here to mount."""
    for strategy in ("envvar", "cdi-cri"):
        answer = allocate(with_answering(pool(H100, sharing=Sharing("mps", 4)), strategy), 0)
        assert answer.envs["CUDA_MPS_PIPE_DIRECTORY"] == "/mps/nvidia.com/gpu/pipe"
        assert not answer.mounts


@pytest.mark.parametrize(
    "sharing",
    [
        Sharing("time-slicing", 4, fail_above_one=True),
        Sharing("mps", 4),
        Sharing("mps", 4, rename=True),
    ],
)
def test_several_replicas_are_refused_in_nvidias_words(sharing: Sharing) -> None:
    """The kubelet shows this text in the pod's status; one replica is fine."""
    share = pool(H100, sharing=sharing)
    name = "nvidia.com/gpu.shared" if sharing.rename else "nvidia.com/gpu"
    assert allocate(share, 0).envs
    with pytest.raises(Refused) as caught:
        allocate(share, 0, 5)
    assert str(caught.value) == (
        f'invalid allocation request for "{name}": invalid request: '
        "maximum request size for shared resources is 1; found 2"
    )


def test_the_labs_own_variables_are_always_there() -> None:
    """They name the hardware once, whatever the strategy, and by the resource's name as well."""
    for strategy in ("envvar", "volume-mounts", "cdi-cri", "cdi-annotations"):
        share = with_answering(pool(H100, sharing=TIMES), strategy, id_strategy="index")
        answer = allocate(share, 0, 1, 2)
        assert answer.envs["GPULAB_VISIBLE_DEVICES"] == f"{A},{B}"
        assert answer.envs["GPULAB_VISIBLE_DEVICES_NVIDIA_COM_GPU"] == f"{A},{B}"


@pytest.mark.parametrize(
    ("wanted", "variables"),
    [([0], {"GPULAB_CORES_PERCENT": "1"}), ([*range(30)], {"GPULAB_CORES_PERCENT": "30"})],
)
def test_a_container_is_told_its_part_of_the_cores(
    wanted: list[int], variables: dict[str, str]
) -> None:
    """In percent of a card, beside the card that they are of."""
    envs = dict(allocate(pool(H100, sharing=Sharing("percentage", 100)), *wanted).envs)
    own = {key: text for key, text in envs.items() if not key.startswith("GPULAB_VISIBLE")}
    assert own == {"NVIDIA_VISIBLE_DEVICES": A, **variables}


def test_the_tools_of_the_node_come_with_each_device() -> None:
    """Read-only, and of this vendor alone."""
    place = Place({"nvidia": (HostMount("/host/smi", "/usr/bin/nvidia-smi"),), "amd": ()})
    for strategy in ("envvar", "cdi-cri"):
        answer = allocate(with_answering(pool(H100), strategy), 0, place=place)
        (mount,) = answer.mounts
        assert (mount.host_path, mount.container_path) == ("/host/smi", "/usr/bin/nvidia-smi")
        assert mount.read_only
