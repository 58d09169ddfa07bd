"""Which errors of NVIDIA's cards count, by the variables of its plugin (internal/rm/health.go)."""

from pathlib import Path

import pytest

from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.health_checks import HealthChecks
from fake_plugin.plan import Plan, Share
from fake_plugin.resources.inventory import Inventory
from tests.unit.fake_plugin.vendors.pools import H100, MI300X, pool

USUAL = {13, 31, 43, 45, 68, 109}
ASKED = {13, 31, 43, 45, 48, 68, 79, 109}
GPU = "GPU-0"


def checks(disable: str = "", enable: str = "") -> HealthChecks:
    """Return the checks with these two variables."""
    return HealthChecks.of({"DP_DISABLE_HEALTHCHECKS": disable, "DP_ENABLE_HEALTHCHECKS": enable})


@pytest.mark.parametrize(
    ("disable", "enable", "ignored"),
    [
        ("", "", USUAL),
        ("79", "", USUAL | {79}),
        (" 79 ,48,", "", USUAL | {48, 79}),
        ("79,nonsense,-48", "", USUAL | {79}),
        ("all", "", ASKED),
        ("xids", "", ASKED),
        ("ALL", "", ASKED),
        ("79,all", "", ASKED),
        ("", "13,31", USUAL - {13, 31}),
        ("79", "79", USUAL),
        ("79", "all", set()),
        ("all", "xids", set()),
        ("all", "79", ASKED),
    ],
)
def test_xids_that_do_not_count(disable: str, enable: str, ignored: set[int]) -> None:
    """What is enabled wins; but where all are disabled, upstream does not listen at all."""
    found = checks(disable, enable)
    assert {xid for xid in ASKED if found.ignores(GPU, Breakage("xid", str(xid)))} == ignored


@pytest.mark.parametrize(
    ("disable", "unit", "breakage", "ignored"),
    [
        ("48", GPU, Breakage("ecc", "double-bit"), True),
        ("79", "MIG-0", Breakage("ecc", "double-bit"), False),
        ("79", GPU, Breakage("ecc", "single-bit"), True),
        ("79", GPU, Breakage(), False),
        ("all", "MIG-0", Breakage(), True),
        ("all", "0000:05:00.0", Breakage("ecc", "double-bit"), False),
        ("all", "Ascend910-0", Breakage("fault-code", "80E01801"), False),
        ("all", "fake-0", Breakage(), False),
    ],
)
def test_other_errors_and_other_vendors(
    disable: str,
    unit: str,
    breakage: Breakage,
    ignored: bool,  # noqa: FBT001 - a column of the table
) -> None:
    """An error of two bits comes with Xid 48; cards of others have checks of their own."""
    assert checks(disable).ignores(unit, breakage) is ignored


def test_what_is_no_xid_is_told() -> None:
    """It is passed over, as upstream, and named in the log."""
    assert checks("79,12a", "-1,99999999999999999999").malformed == (
        "12a",
        "-1",
        "99999999999999999999",
    )


def test_a_node_follows_its_checks(tmp_path: Path) -> None:
    """Of a node with two vendors, NVIDIA's card stays healthy and the other does not."""
    plan = Plan((pool(H100, 1), Share("q", "q-0", 1, accelerator=MI300X)))
    inventory = Inventory.load(tmp_path, "n", plan, ignores=checks("all").ignores)
    units = [resource.devices[0].unit for resource in inventory.resources]
    inventory.board.break_units(units, Breakage())
    assert inventory.board.unhealthy() == {units[1]}
