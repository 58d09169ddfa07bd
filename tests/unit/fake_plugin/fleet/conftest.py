"""Pools as a plugin reads them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fake_plugin.errors import WrongUse
from fake_plugin.fleet.reading import read_plan
from fake_plugin.plan import Plan, Share

MIG = [
    {"name": "1g.10gb", "most": 7, "compute": 1, "memory": 1},
    {"name": "3g.40gb", "most": 2, "compute": 3, "memory": 4, "memoryMiB": 40192},
]
MODELS: dict[str, dict[str, Any]] = {
    "nvidia": {
        "name": "h100",
        "vendor": "nvidia",
        "product": "NVIDIA H100 80GB HBM3",
        "memoryMiB": 81559,
        "computeSlices": 7,
        "memorySlices": 8,
        "profiles": MIG,
    },
    "amd": {"name": "mi300x", "vendor": "amd", "product": "AMD Instinct MI300X"},
    "ascend": {
        "name": "910b3",
        "vendor": "ascend",
        "product": "910B3",
        "architecture": "910B3",
        "memoryMiB": 65536,
    },
}


@pytest.fixture
def plan_of(tmp_path: Path) -> Callable[..., Plan]:
    """Return what reads the plan of node `a-0`, of a fleet with a pool `a` of these keys.

    Without a resource the pool has an NVIDIA card. `top` has keys beside `pools`.
    """

    def read(top: dict[str, Any] | None = None, node: str = "a-0", **pool: Any) -> Plan:  # noqa: ANN401 - of a file
        if "resource" not in pool:
            pool = {"accelerator": MODELS["nvidia"]} | pool
        entry = {"name": "a", "nodes": 1, "count": 2} | pool
        document = {"apiVersion": "gpu-lab/v1", "kind": "Fleet", "pools": [entry], **(top or {})}
        file = tmp_path / "fleet.yaml"
        file.write_text(yaml.safe_dump(document, sort_keys=False))
        return read_plan(file, node)

    return read


@pytest.fixture
def share_of(plan_of: Callable[..., Plan]) -> Callable[..., Share]:
    """Return what reads the share of a pool of these keys."""

    def read(**pool: Any) -> Share:  # noqa: ANN401 - of a file
        (share,) = plan_of(**pool).shares
        return share

    return read


@pytest.fixture
def refusal_of(plan_of: Callable[..., Plan]) -> Callable[..., str]:
    """Return what reads why a fleet of these keys is refused, without the words before it."""

    def read(**keys: Any) -> str:  # noqa: ANN401 - of a file
        with pytest.raises(WrongUse) as caught:
            plan_of(**keys)
        return caught.value.what.removeprefix("the fleet file: ").removeprefix("pools[0].")

    return read
