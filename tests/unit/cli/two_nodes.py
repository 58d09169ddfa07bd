"""A lab of two nodes whose plugins answer, and the command that is tried on it."""

from collections.abc import Sequence

import pytest

from fake_plugin.hardware.accelerator import Accelerator
from fake_plugin.plan import Share
from lab.cli.main import run
from tests.unit.stand_ins.plugin import Plugin

NPU = "npu.example.com/chip"
H100 = Accelerator("nvidia-h100-sxm-80gb", "nvidia", "NVIDIA H100 80GB HBM3", 81559, 700)
GPUS = Share("nvidia", "nvidia-0", 2, accelerator=H100)
CHIPS = Share("npu", "npu-0", 2, resource=NPU)
Output = pytest.CaptureFixture[str]


def inject(*arguments: str) -> int:
    """Run a command of `gpulab inject` on the lab; return its exit code."""
    return run(["inject", *arguments, "--name", "t-lab"])


def broken(plugins: Sequence[Plugin]) -> list[dict[int, str]]:
    """Return what is broken on each node, by index."""
    states = [(each.node.inventory, each.node.inventory.board.state.broken) for each in plugins]
    return [
        {
            device.card.index: str(state[device.unit])
            for device in inventory.resources[0].devices
            if device.unit in state
        }
        for inventory, state in states
    ]
