"""What a fleet on a page comes to on a node."""

from pathlib import Path

from fake_plugin.fleet.reading import read_plan
from fake_plugin.plan import Plan
from fake_plugin.smi import programs
from fake_plugin.vendors.place import Place
from lab.core.fleet import dump_fleet, load_fleet


def plan_of(text: str, node: str, folder: Path) -> Plan:
    """Return what a fleet gives to a node, by the way that it goes from a reader to a plugin."""
    written = folder / "as-written.yaml"
    written.write_text(text, encoding="utf-8")
    inlined = folder / "inlined.yaml"
    inlined.write_text(dump_fleet(load_fleet(written)), encoding="utf-8")
    return read_plan(inlined, node)


def place_of_a_lab() -> Place:
    """Return what containers get beside devices on a node of a lab."""
    folder = "/var/lib/gpu-lab/tools"
    return Place({vendor: programs.mounts(vendor, folder) for vendor in programs.PROGRAMS})
