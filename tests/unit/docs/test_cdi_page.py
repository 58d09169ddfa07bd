"""The page about CDI shows the file that the lab writes for the fleet of the page."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from fake_plugin.resources.inventory import Inventory
from lab.core.fleet import dump_fleet, load_fleet
from tests.unit.docs.fleets import place_of_a_lab, plan_of
from tests.unit.docs.pages import page

PAGE: Final = page("docs/explanation/cdi.md")
NODE: Final = "gpu-lab-worker"
FILE: Final = "k8s.device-plugin.nvidia.com-gpu.json"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Return the folder of specs of the node, once the plugin has started with the fleet."""
    (fleet,) = PAGE.blocks("yaml")
    file = tmp_path / "my-fleet.yaml"
    file.write_text(fleet.text, encoding="utf-8")
    placed = dump_fleet(load_fleet(file).placed_on([NODE]))
    specs = tmp_path / "cdi"
    plan = plan_of(placed, NODE, tmp_path)
    Inventory.load(tmp_path, NODE, plan, replace(place_of_a_lab(), cdi_dir=specs))
    return specs


def test_the_file_of_the_page_is_the_one_that_is_written(written: Path) -> None:
    """Byte by byte, the devices' names included: a reader may compare the two."""
    (shown,) = PAGE.blocks("json")
    assert shown.text == (written / FILE).read_text(encoding="utf-8")


def test_the_commands_of_the_page_look_for_that_file(written: Path) -> None:
    """It is the only one, so what the page says of it is all there is to see."""
    assert [each.name for each in written.iterdir()] == [FILE]
    (commands,) = PAGE.blocks("shell")
    assert f"docker exec {NODE} cat /var/run/cdi/{FILE}\n" in commands.text
