"""A plugin whose calls go wrong from its start."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fake_plugin.config import Config
from fake_plugin.faults.fault import Fault
from fake_plugin.plan import Plan, Share
from fake_plugin.plugin import Plugin
from fake_plugin.serving.timing import Timing
from tests.unit.fake_plugin.conftest import RESOURCE, TIMING

StartFaulty = Callable[..., Plugin]


@pytest.fixture
def start_faulty(folder: Path, tmp_path: Path) -> Iterator[StartFaulty]:
    """Return what starts a plugin with two devices and these faults; it is stopped in the end."""
    started: list[Plugin] = []

    def start(*faults: Fault, timing: Timing = TIMING) -> Plugin:
        share = Share("chapter", "chapter-0", 2, resource=RESOURCE)
        config = Config(Path("not-read"), "worker", folder, tmp_path, None)
        plugin = Plugin(config, Plan((share,), faults=faults), timing)
        started.append(plugin)
        plugin.start()
        return plugin

    yield start
    for plugin in started:
        plugin.stop()
