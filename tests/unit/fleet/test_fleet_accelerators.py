"""Pools of accelerators: by name or spelled out, and what their nodes have."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fake_plugin.fleet.reading import read_plan
from fake_plugin.plan import Answering, Sharing
from lab.core.catalogue import catalogue
from lab.core.fleet import Fleet, FleetError, dump_fleet, load_fleet
from lab.core.fleet.reading import read_text

HEAD = "apiVersion: gpu-lab/v1\nkind: Fleet\n"
H100 = "accelerator: nvidia-h100-sxm-80gb"
B3 = "accelerator: ascend-910b3-64gb"
MPS = f"{H100}, count: 2, sharing: {{strategy: mps, replicas: 3}}"
MI300X = "accelerator: amd-mi300x-192gb"
INLINE = "accelerator: {name: x, vendor: nvidia, product: X}"


def fleet(pool: str) -> Fleet:
    """Return a fleet of one pool `a` of one node with these keys."""
    return read_text(f"{HEAD}pools: [{{name: a, nodes: 1, {pool}}}]\n", "fleet.yaml")


def test_a_name_stands_for_the_model_of_the_catalogue() -> None:
    """What a node has to know of it is inlined at once."""
    (pool,) = fleet(f"{H100}, count: 8").pools
    assert pool.accelerator == catalogue()["nvidia-h100-sxm-80gb"].accelerator()


@pytest.mark.parametrize("name", [model.name for model in catalogue().values()])
def test_every_model_of_the_catalogue_makes_a_fleet(name: str, tmp_path: Path) -> None:
    """The file for the node says the same to the plugin; of other vendors there is no plugin."""
    if catalogue()[name].vendor == "other":
        with pytest.raises(FleetError, match="no plugin of its vendor is imitated"):
            fleet(f"accelerator: {name}, count: 2")
        return
    file = tmp_path / "fleet.yaml"
    made = fleet(f"accelerator: {name}, count: 2")
    file.write_text(dump_fleet(made))
    assert read_plan(file, "a-0").shares == (made.pools[0].share(0),)


@pytest.mark.parametrize(
    ("pool", "devices"),
    [
        ("resource: a.com/x, count: 3", {"a.com/x": 3}),
        (f"{H100}, count: 8", {"nvidia.com/gpu": 8}),
        (f"{H100}, count: 0", {"nvidia.com/gpu": 0}),
        (f"{H100}, count: 2, alias: a.com/gpu", {"a.com/gpu": 2}),
        (
            f"{H100}, count: 2, sharing: {{strategy: time-slicing, replicas: 4, rename: true}}",
            {"nvidia.com/gpu.shared": 8},
        ),
        (MPS, {"nvidia.com/gpu": 6}),
        (f"{MPS}, partitions: {{strategy: single, layout: []}}", {"nvidia.com/gpu": 6}),
        (
            f"{MPS}, partitions: {{strategy: none, layout: [{{devices: all, profiles: {{}}}}]}}",
            {"nvidia.com/gpu": 6},
        ),
        (
            (
                f"{H100}, count: 4, partitions: {{strategy: mixed, layout: [{{devices: [0, 1], "
                "profiles: {1g.10gb: 2, 1g.10gb+me: 1}}, {devices: [2], profiles: {}}]}"
            ),
            {"nvidia.com/mig-1g.10gb": 4, "nvidia.com/mig-1g.10gb.me": 2, "nvidia.com/gpu": 1},
        ),
        (
            (
                f"{H100}, count: 4, partitions: {{strategy: single, layout: "
                "[{devices: all, profiles: {3g.40gb: 2}}]}"
            ),
            {"nvidia.com/gpu": 8},
        ),
        (
            (
                f"{H100}, count: 2, partitions: {{strategy: mixed, layout: "
                "[{devices: all, profiles: {7g.80gb: 1}}]}"
            ),
            {"nvidia.com/mig-7g.80gb": 2},
        ),
        (f"{MI300X}, count: 8", {"amd.com/gpu": 8}),
        (
            (
                f"{MI300X}, count: 8, partitions: {{strategy: single, layout: "
                "[{devices: all, profiles: {cpx_nps1: 8}}]}"
            ),
            {"amd.com/gpu": 64},
        ),
        (
            (
                f"{MI300X}, count: 8, partitions: {{strategy: mixed, layout: "
                "[{devices: all, profiles: {cpx_nps1: 8}}]}"
            ),
            {"amd.com/cpx_nps1": 64},
        ),
        (f"{B3}, count: 8", {"huawei.com/Ascend910": 8}),
        (f"{B3}, count: 8, alias: huawei.com/ascend-910b", {"huawei.com/ascend-910b": 8}),
        (
            (
                f"{B3}, count: 2, partitions: {{strategy: mixed, layout: "
                "[{devices: [0], profiles: {vir05_1c_16g: 4}}]}"
            ),
            {"huawei.com/Ascend910": 1, "huawei.com/Ascend910-5c.1cpu.16g": 4},
        ),
    ],
    ids=str,
)
def test_a_node_has_what_its_plugin_offers(pool: str, devices: dict[str, int]) -> None:
    """Names and numbers are the vendor's, as `gpulab up` waits for them."""
    assert fleet(pool).nodes()[0].devices == devices


@pytest.mark.parametrize(
    ("pool", "taint"),
    [
        (f"{H100}, sharing: {{strategy: mps, replicas: 2, rename: true}}", "nvidia.com/gpu"),
        (MI300X, "amd.com/gpu"),
        (B3, "huawei.com/Ascend910"),
        (f"{B3}, dialect: hami", "huawei.com/Ascend910"),
        (f"{B3}, alias: huawei.com/ascend-910b", "huawei.com/ascend-910b"),
        ("resource: a.com/x", "a.com/x"),
    ],
)
def test_a_taint_is_what_the_vendor_tolerates(pool: str, taint: str) -> None:
    """The vendor's own name, however the devices are offered; an alias replaces it."""
    (node,) = fleet(f"{pool}, count: 1, taint: true").nodes()
    assert str(node.taint) == f"{taint}=present:NoSchedule"


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        (
            "accelerator: h100",
            (
                'pools[0].accelerator: is "h100" (a model of the catalogue: '
                "docs/reference/accelerators.md lists them); did you mean nvidia-h100-sxm-80gb or "
                "nvidia-h100-pcie-80gb or nvidia-h100-nvl-94gb?"
            ),
        ),
        (
            "accelerator: hygon-k100",
            (
                'pools[0].accelerator: is "hygon-k100" (the catalogue has figures of it, but no '
                "plugin of its vendor is imitated); give the pool a `resource` instead"
            ),
        ),
        ("accelerator: 5", 'pools[0].accelerator: is 5 (must be text); quote it: "5"'),
        (
            "accelerator: {name: x, vendor: intel, product: X}",
            "pools[0].accelerator.vendor: is \"intel\" (must be 'nvidia', 'amd' or 'ascend')",
        ),
        (
            "accelerator: {name: x, vendor: nvidia, product: X, memoryMib: 4}",
            ("pools[0].accelerator.memoryMib: is not a key of this place; did you mean memoryMiB?"),
        ),
        (
            "accelerator: {name: x, vendor: nvidia, product: X, powerWatts: 0}",
            (
                "pools[0].accelerator.powerWatts: is 0 "
                "(a whole number from 1 to 2147483647, or unknown)"
            ),
        ),
        (
            (
                "accelerator: {name: x, vendor: nvidia, product: X, profiles: [{name: p, most: 1,"
                " compute: 0, memory: 0}, {name: p, most: 2, compute: 0, memory: 0}]}"
            ),
            ("pools[0].accelerator.profiles: is a list (each profile once, and p is there again)"),
        ),
        (
            f"{H100}\nnuma: [0, 2147483648]",
            "pools[0].numa[1]: is 2147483648 (at most 2147483647); use 2147483647",
        ),
        (
            f"{H100}\npartitions: {{strategy: mixed, layout: [{{devices: none, profiles: {{}}}}]}}",
            (
                'pools[0].partitions.layout[0].devices: is "none" '
                "(all, or a list of the indices of cards, from 0)"
            ),
        ),
        (
            f"{H100}\nload: {{utilization: 80}}",
            (
                "pools[0].load.utilization: is 80 "
                "(at most 1: a part of the whole, and no percentage); use 1"
            ),
        ),
        (
            f"{H100}\nanswering: {{deviceListStrategy: [cdi]}}",
            (
                "pools[0].answering.deviceListStrategy[0]: is \"cdi\" (must be 'envvar', "
                "'volume-mounts', 'cdi-annotations' or 'cdi-cri')"
            ),
        ),
        (
            f"{H100}\nnvidiaConfig: gone.yaml",
            ("pools[0].nvidiaConfig: is a file that cannot be used: No such file or directory"),
        ),
        (
            f"{H100}\nsharing: {{strategy: time-slicing, replicas: 50000}}",
            (
                "pools[0].count: is 2, and 100000 devices of nvidia.com/gpu are too many for one "
                "list (the list has up to 6177780 bytes, and the kubelet takes 4194304); lower "
                "sharing.replicas to 33946 or less, or lower the pool's count to 1 or less"
            ),
        ),
        (
            (
                f"{H100}\nnvidiaConfig: {{version: v1, sharing: {{timeSlicing: {{renameByDefault: "
                "true, resources: [{name: gpu, replicas: 50000}]}}}"
            ),
            (
                "pools[0].count: is 2, and 100000 devices of nvidia.com/gpu.shared are too many "
                "for one list (the list has up to 6177780 bytes, and the kubelet takes 4194304); "
                "lower the replicas of nvidia.com/gpu to 33946 or less, or lower the pool's count "
                "to 1 or less"
            ),
        ),
        (
            f"{H100}\nsharing: {{strategy: percentage, memoryUnitMiB: 1}}",
            (
                "pools[0].count: is 2, and 163118 devices of tke.cloud.tencent.com/qgpu-memory "
                "are too many for one list (the list has up to 4708202 bytes, and the kubelet "
                "takes 4194304); raise sharing.memoryUnitMiB to 2 or more, or lower the pool's "
                "count to 1 or less"
            ),
        ),
        (
            f"{B3}\ndialect: hami\npartitions: {{strategy: mixed}}",
            (
                "pools[0].partitions: HAMi cuts an NPU when a pod asks for memory of it, "
                "and not before; leave out the partitions, or use the official dialect"
            ),
        ),
        (
            f"{B3}\nanswering: {{gdsEnabled: true}}",
            (
                "pools[0].answering: device list strategies and the like are settings of NVIDIA's "
                "plugin (ascend-910b3-64gb); leave out all of answering but "
                "sharedDevicesAllocationPolicy"
            ),
        ),
        (
            f"{B3}\nsharing: {{strategy: percentage}}",
            (
                "pools[0].sharing.strategy: Ascend's own plugin has no shares in percent: its "
                "huawei.com/npu-core counts AI cores of a node, for a scheduler that cuts NPUs by "
                "templates; use the dialect hami, or partitions with a layout of vNPUs"
            ),
        ),
        (
            "accelerator: {name: x, vendor: ascend, product: X}\ndialect: hami",
            (
                "pools[0].accelerator: HAMi's resources are named after the chip, which is not "
                "known (x); give the accelerator's architecture, as 910B3, or use the official "
                "dialect"
            ),
        ),
    ],
    ids=str,
)
def test_error_about_an_accelerator(
    findings_of_pool: Callable[[str], list[str]], keys: str, found: str
) -> None:
    """One wrong value gives one finding, with what would be right."""
    assert findings_of_pool(f"resource: -\n{keys}") == [found]


def test_rules_of_the_plugin_have_a_place_in_the_file(
    findings_of: Callable[[str], list[str]],
) -> None:
    """What the plugin's own rules find is told with line and column."""
    (line,) = findings_of(
        f"{HEAD}pools:\n- name: a\n  nodes: 1\n  {H100}\n  count: 2\n"
        "  nvidiaConfig:\n    version: v1\n    flags:\n      renameByDefault: true\n"
    )
    assert line == (
        ":11:24: pools[0].nvidiaConfig.flags.renameByDefault: is not a key of this place; it "
        "belongs at sharing.timeSlicing.renameByDefault or sharing.mps.renameByDefault"
    )


def test_a_file_of_nvidia_is_put_in(tmp_path: Path) -> None:
    """Its path starts from the fleet file, and the node gets what it says."""
    (tmp_path / "config.yaml").write_text(
        "version: v1\nflags: {plugin: {deviceIDStrategy: index}}\n"
        "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 3}]}}\n"
    )
    file = tmp_path / "fleet.yaml"
    pool = f"{{name: a, nodes: 1, {H100}, count: 2, nvidiaConfig: config.yaml}}"
    file.write_text(f"{HEAD}pools: [{pool}]\n")
    (pool_,) = load_fleet(file).pools
    assert pool_.sharing == Sharing("time-slicing", 3, each={"nvidia.com/gpu": 3})
    assert pool_.answering == Answering(id_strategy="index")
    assert read_text(dump_fleet(load_fleet(file)), "handed") == load_fleet(file)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("version: [", "is a file that cannot be used: is not YAML: "),
        ("version: v1\nversion: v1\n", "has a mistake: "),
        ("version: v1\nflags:\n", "has a mistake: "),
        (f"#{'-' * 2**20}", "is a file that cannot be used: is too large"),
        ("- a\n", "is no mapping (NVIDIA's format begins with `version: v1`)"),
        ("version: v2\n", '.version: is "v2" (must be v1)'),
    ],
)
def test_a_file_of_nvidia_that_is_wrong_is_named(
    findings_of: Callable[[str], list[str]], tmp_path: Path, content: str, reason: str
) -> None:
    """The place is that of the path in the fleet file."""
    (tmp_path / "n.yaml").write_text(content)
    pool = f"{{name: a, nodes: 1, count: 2, nvidiaConfig: n.yaml, {H100}}}"
    (line,) = findings_of(f"{HEAD}pools: [{pool}]\n")
    assert line.startswith(":3:53: pools[0].nvidiaConfig")
    assert reason in line


def test_two_pools_of_one_vendor_do_not_share_a_node(
    findings_of: Callable[[str], list[str]],
) -> None:
    """Both would offer nvidia.com/gpu, and the kubelet keeps the list of one."""
    pools = [f"{{name: {name}, nodes: 1, nodeNames: [w], {H100}, count: 1}}" for name in "ab"]
    (line,) = findings_of(f"{HEAD}pools: [{', '.join(pools)}]\n")
    assert line.endswith(
        'takes "w", on which pool a offers nvidia.com/gpu (a node is in one pool for each '
        "resource); take another node, or another resource"
    )


def test_two_vendors_share_a_node(tmp_path: Path) -> None:
    """NVIDIA and AMD on one node are two resources (akash-network/support#142)."""
    pools = [
        f"{{name: {name}, nodes: 1, nodeNames: [w], {model}, count: 4}}"
        for name, model in (("a", H100), ("b", MI300X))
    ]
    file = tmp_path / "fleet.yaml"
    file.write_text(f"{HEAD}pools: [{', '.join(pools)}]\n")
    assert [dict(node.devices) for node in load_fleet(file).nodes()] == [
        {"nvidia.com/gpu": 4},
        {"amd.com/gpu": 4},
    ]


def test_a_fleet_is_inlined_for_a_plugin_by_hand(tmp_path: Path) -> None:
    """`python -m lab.core.fleet.inline` prints what the plugin can read."""
    command = [sys.executable, "-m", "lab.core.fleet.inline", "fleets/three-vendors.yaml"]
    root = Path(__file__).parents[3]
    (tmp_path / "f.yaml").write_text(subprocess.check_output(command, text=True, cwd=root))
    assert read_plan(tmp_path / "f.yaml", "amd-0").shares[0].count == 8


def test_inlining_says_what_is_wrong(tmp_path: Path) -> None:
    """An error is the lab's, with its exit code."""
    command = [sys.executable, "-m", "lab.core.fleet.inline", str(tmp_path / "gone.yaml")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3]
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "the fleet file cannot be read" in done.stderr
