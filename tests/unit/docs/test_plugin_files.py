"""What the page says that the plugin writes on a node is what it writes."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from fake_plugin.config import Config
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.plugin import Plugin
from fake_plugin.serving.timing import Timing
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.docs.fleets import plan_of
from tests.unit.docs.pages import page
from tests.unit.waiting import wait_until

PAGE: Final = page("docs/reference/plugin.md")
ROWS: Final = [row[0].strip("`") for row in PAGE.section("What it writes").rows()]
NODE: Final = "gpu-lab-worker"
FLEET: Final = f"""\
apiVersion: gpu-lab/v1
kind: Fleet
pools:
  - name: p
    nodes: 1
    nodeNames: [{NODE}]
    accelerator: nvidia-h100-sxm-80gb
    count: 1
    answering: {{deviceListStrategy: cdi-cri}}
"""


@pytest.fixture
def written() -> Iterator[set[str]]:
    """Return all files of a plugin that runs, whose hardware was broken, and whose state once was.

    Their folders are called as on the page.
    """
    # A folder of pytest's own may have too long a path for a socket.
    with tempfile.TemporaryDirectory(prefix="gp-", dir="/tmp") as place:
        folder = Path(place)
        names = {name: folder / name for name in ("device-plugin-dir", "state-dir", "cdi-dir")}
        for each in names.values():
            each.mkdir()
        (names["state-dir"] / "hardware.json").write_text("this is no JSON")
        kubelet = DeviceManager(names["device-plugin-dir"])
        kubelet.start()
        config = Config(folder, NODE, names["device-plugin-dir"], names["state-dir"], health=None)
        config = Config(**{**vars(config), "cdi_dir": names["cdi-dir"]})
        plugin = Plugin(config, plan_of(FLEET, NODE, folder), Timing())
        plugin.start()
        plugin.inventory.board.break_units(["card"], Breakage())
        table = names["state-dir"] / "tools" / "units" / "units"
        wait_until("the plugin", lambda: bool(kubelet.known.allocatable) and table.exists())
        yield {
            f"<{name}>/{each.relative_to(path)}"
            for name, path in names.items()
            for each in path.rglob("*")
            if not each.is_dir() and each.name not in KUBELETS
        }
        plugin.stop()
        kubelet.stop()


#: What the kubelet has in its folder.
KUBELETS: Final = ("kubelet.sock", "kubelet_internal_checkpoint", "DEPRECATION")


def pattern(row: str) -> str:
    """Return what the names of a row's files match; a folder stands for all in it."""
    parts = re.split(r"(<[\w-]+>)(?=/)|<[\w-]+>", row)
    text = "".join("[^/]+" if part is None else re.escape(part) for part in parts)
    return text + (".+" if row.endswith("/") else "")


def test_files_are_those_of_the_page(written: set[str]) -> None:
    """Every row has a file, and every file a row."""
    matched = {each: [row for row in ROWS if re.fullmatch(pattern(row), each)] for each in written}
    assert [each for each, found in matched.items() if len(found) != 1] == []
    assert {row for found in matched.values() for row in found} == set(ROWS)
