"""The page about the metrics lists what the plugin writes."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
import yaml

from fake_plugin.hardware.breakage import Breakage
from fake_plugin.metrics import amd, ascend, dcgm, own, unified
from fake_plugin.metrics.dcgm_fields import FIELDS
from fake_plugin.metrics.families import Family, Metric
from fake_plugin.metrics.history import History
from fake_plugin.metrics.pod_resources import Answer
from fake_plugin.metrics.style import Style
from tests.unit.docs.pages import ROOT, page
from tests.unit.fake_plugin.metrics.fixtures import NODE, NOW, Node, board
from tests.unit.fake_plugin.metrics.scrape import kept, promtool
from tests.unit.fake_plugin.metrics.test_promtool import EVERYTHING, TALLY

PAGE: Final = page("docs/reference/metrics.md")


@pytest.fixture
def families(tmp_path: Path) -> dict[str, list[Family]]:
    """Return all families by the title of their section."""
    history = History(board(tmp_path))
    fault = Breakage("fault-code", "80E01801")
    broken = [replace(each, breakage=fault) for each in EVERYTHING]
    return {
        "All vendors": kept(unified.families(EVERYTHING, history, NODE)),
        "The plugin itself": kept(own.families(Node(board(tmp_path), []), TALLY, Answer({}))),
        "NVIDIA": kept(dcgm.families(EVERYTHING, history, NODE, Style("operator"))),
        "AMD": kept(amd.families(EVERYTHING, history, NODE)),
        "Ascend": kept(ascend.families(broken, NOW)),
    }


def told(metrics: Iterable[Metric]) -> set[tuple[str, ...]]:
    """Return the rows that a table of metrics must have."""
    return {(f"`{each.name}`", each.type, each.help) for each in metrics}


@pytest.mark.parametrize("title", ["All vendors", "The plugin itself", "AMD", "Ascend"])
def test_metrics_are_those_of_the_code(families: dict[str, list[Family]], title: str) -> None:
    """Each with its type and its help text, none twice."""
    rows = [tuple(row) for row in PAGE.section(title).rows()]
    assert set(rows) == told(family.metric for family in families[title])
    assert len(rows) == len(set(rows))


def test_metrics_of_nvidia_say_in_which_list_they_are() -> None:
    """And whether a MIG instance has them."""
    rows = [tuple(row) for row in PAGE.section("NVIDIA").rows()]
    assert rows == [
        (
            f"`{field.metric.name}`",
            field.metric.type,
            field.metric.help,
            " and ".join(field.lists),
            "yes" if field.instances else "no",
        )
        for field in FIELDS
    ]


@pytest.mark.parametrize("title", ["All vendors", "NVIDIA", "AMD", "Ascend"])
def test_labels_are_those_of_the_code_in_their_order(
    families: dict[str, list[Family]], title: str
) -> None:
    """The labels that all of a section's metrics about devices have."""
    line = next(x for x in PAGE.section(title).text.splitlines() if x.startswith("Labels"))
    found = re.findall(r"`(\w+)`", line.partition(". ")[0])
    about = {"All vendors": "accel_power_watts", "NVIDIA": "DCGM_FI_DEV_POWER_USAGE"}
    about |= {"AMD": "gpu_health", "Ascend": "npu_chip_info_power"}
    (family,) = [each for each in families[title] if each.metric.name == about[title]]
    most = max((sample.labels for sample in family.samples), key=len)
    assert found == [name for name, _ in most]


def test_configuration_of_prometheus_is_one(tmp_path: Path) -> None:
    """It takes the block, but for the discovery in Kubernetes, which Debian builds it without."""
    (block,) = PAGE.blocks("yaml")
    found = yaml.safe_load(block.text)
    assert found["scrape_configs"][0].pop("kubernetes_sd_configs")
    file = tmp_path / "prometheus.yml"
    file.write_text(yaml.safe_dump(found), encoding="utf-8")
    done = promtool("check", "config", str(file))
    assert done.returncode == 0, done.stdout + done.stderr


def test_configuration_of_prometheus_finds_the_plugins_port() -> None:
    """It is called as in the manifest."""
    (block,) = PAGE.blocks("yaml")
    assert "regex: control," in block.text
    manifest = (ROOT / "lab/install/plugin.yaml").read_text(encoding="utf-8")
    assert "{name: control, containerPort: " in manifest
