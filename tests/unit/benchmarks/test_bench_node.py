"""The node of the benchmark: processes, their memory, and what they are started with."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.node import MIB, Memory, new_node, starter
from benchmarks.ours import NODE, RESOURCE, Fleet
from fake_plugin.fleet.reading import read_plan
from lab.core.errors import CheckFailed, NotReady


def test_memory_is_what_the_system_counts() -> None:
    """A process has no more to itself than is resident, and had no less at its peak."""
    memory = Memory.of(os.getpid())
    assert MIB < memory.pss <= memory.rss <= memory.peak


def test_a_plugin_that_ends_is_told_with_its_last_words() -> None:
    """Nobody waits for what cannot come; the folder is removed."""
    with (
        new_node() as node,
        pytest.raises(CheckFailed) as failed,
        node.running(("sh", "-c", "echo no devices here >&2")),
    ):
        raise AssertionError("it has not registered")
    assert failed.value.what == "0 of 1 resources registered"
    assert failed.value.seen == "no devices here"
    assert not node.root.exists()


def test_a_machine_without_unshare_is_not_ready(
    put_on_path: Callable[[str, str], Path],
) -> None:
    """The error names the package."""
    del put_on_path
    with pytest.raises(NotReady, match="unshare") as missing:
        starter()
    assert "util-linux" in missing.value.remedy


def test_a_machine_that_allows_no_other_root_is_not_ready(
    put_on_path: Callable[[str, str], Path],
) -> None:
    """The error has the system's words, and how to do without."""
    put_on_path("unshare", "echo Operation not permitted >&2; exit 1")
    with pytest.raises(NotReady, match="a root of its own") as refused:
        starter()
    assert refused.value.seen == "Operation not permitted"
    assert "--alone" in refused.value.remedy


def test_the_plugin_understands_the_fleet(tmp_path: Path) -> None:
    """One node with every resource, whose first device flaps."""
    file = tmp_path / "fleet.yaml"
    file.write_text(Fleet(devices=3, resources=2, flap_ms=80).text())
    plan = read_plan(file, NODE)
    assert [(each.resource, each.count) for each in plan.shares] == [
        (RESOURCE, 3),
        (f"{RESOURCE}1", 3),
    ]
    (flap,) = plan.script
    assert (flap.pool, flap.device, flap.seconds, flap.becomes) == ("bench", 0, 0.08, "toggled")
