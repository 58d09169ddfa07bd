"""The fleets that the lab ships, the page about them, and the schema."""

import json
import re
from pathlib import Path

import pytest

from fake_plugin.api.deviceplugin_pb2 import Device, ListAndWatchResponse
from fake_plugin.fleet.reading import read_plan
from fake_plugin.hardware.board import Board
from fake_plugin.hardware.state import State, StateFile
from fake_plugin.plan import Plan, Share
from fake_plugin.resources.inventory import Inventory
from fake_plugin.resources.message_limit import MOST_DEVICES
from fake_plugin.vendors import generic
from lab.core.fleet import Fleet, Pool, dump_fleet, load_fleet
from lab.core.fleet.misspelling import known_keys
from lab.core.fleet.reading import read_text
from lab.core.fleet.schema import fleet_schema, fleet_schema_text

ROOT = Path(__file__).parents[3]
FLEETS = sorted((ROOT / "fleets").glob("*.yaml"))
PAGE = (ROOT / "docs/reference/fleet.md").read_text()
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def test_fleets_are_there() -> None:
    """The tables below have rows."""
    assert [file.name for file in FLEETS] == [
        "chapter.yaml",
        "failing.yaml",
        "mig.yaml",
        "shared.yaml",
        "three-vendors.yaml",
        "two-pools.yaml",
    ]
    assert BLOCKS


def test_chapter_fleet_is_the_default() -> None:
    """What the file says is what the lab does without a file."""
    assert load_fleet(ROOT / "fleets/chapter.yaml") == Fleet.default()


@pytest.mark.parametrize("file", FLEETS, ids=lambda file: file.name)
def test_fleet_names_the_schema(file: Path) -> None:
    """An editor finds the schema from the first line."""
    first = file.read_text().splitlines()[0]
    schema = first.removeprefix("# yaml-language-server: $schema=")
    assert (file.parent / schema).resolve() == ROOT / "docs/reference/fleet.schema.json"


@pytest.mark.parametrize("file", FLEETS, ids=lambda file: file.name)
def test_plugin_serves_what_the_lab_expects(file: Path, tmp_path: Path) -> None:
    """The plugin's reader and ours agree about each node of the file that the plugin is handed."""
    fleet = load_fleet(file)
    placed = fleet.placed_on([f"worker{at}" for at in range(len(fleet.nodes()))])
    handed = tmp_path / "fleet.yaml"
    handed.write_text(dump_fleet(placed))
    for pool in placed.pools:
        for at, name in enumerate(pool.node_names):
            assert read_plan(handed, name) == plan(placed, pool, at)


@pytest.mark.parametrize("file", FLEETS, ids=lambda file: file.name)
def test_plugin_offers_what_the_lab_waits_for(file: Path, tmp_path: Path) -> None:
    """The resources of a plugin that runs have the names and numbers that the lab expects."""
    fleet = load_fleet(file)
    for pool in fleet.pools:
        board = Board(StateFile(tmp_path), State(), sticky=False)
        resources = Inventory("worker", plan(fleet, pool, 0), board).resources
        assert {each.name: len(each.devices) for each in resources} == pool.devices()


def plan(fleet: Fleet, pool: Pool, index: int) -> Plan:
    """Return what the plugin should have for a node of one pool."""
    share = pool.share(index)
    return Plan(
        (share,),
        fleet.sticky,
        tuple(each.flap for each in fleet.script if each.member == share.member),
        tuple(each.fault for each in fleet.faults if each.member in {None, share.member}),
        {} if pool.load is None else {pool.name: pool.load},
    )


def test_most_devices_are_what_the_kubelet_takes() -> None:
    """A list of so many devices, all unhealthy, fits into gRPC's 4 MiB, and one more does not."""
    name = generic.card("node", Share("pool", "pool-0", 1), 0, 0).uid
    one = ListAndWatchResponse(devices=[Device(ID=name, health="Unhealthy")]).ByteSize()
    assert MOST_DEVICES * one <= 4 * 1024 * 1024 < (MOST_DEVICES + 1) * one


@pytest.mark.parametrize("block", BLOCKS)
def test_page_shows_fleets_that_load(block: str) -> None:
    """Each YAML block of the page is a whole fleet, or the pools of one."""
    head = "" if block.startswith("apiVersion") else "apiVersion: gpu-lab/v1\nkind: Fleet\n"
    assert read_text(head + block, "fleet.md").pools


def test_page_describes_every_key() -> None:
    """Each key of the format has a row on the page, and no row is left of a key that went."""
    keys = {f"{place}.{key}".lstrip(".") for place, names in known_keys().items() for key in names}
    assert set(re.findall(r"^\| `([\w.\[\]]+)` \|", PAGE, re.MULTILINE)) == keys


def test_published_schema_is_current() -> None:
    """`python -m lab.core.fleet.schema` prints what is committed."""
    assert (ROOT / "docs/reference/fleet.schema.json").read_text() == fleet_schema_text()


def test_schema_forbids_unknown_keys_everywhere() -> None:
    """Every mapping of the schema is closed."""
    schema = fleet_schema()
    mappings = [schema, *schema["$defs"].values()]
    assert [each["additionalProperties"] for each in mappings] == [False] * len(mappings)


def test_schema_allows_no_null() -> None:
    """A key without a value is an error in the editor too."""
    assert "null" not in json.dumps(fleet_schema())
