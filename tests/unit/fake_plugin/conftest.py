"""A folder with a kubelet in it, and plugins that are ended with the test."""

import copy
import itertools
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

# Read when gRPC is imported: other tests start child processes from this one.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

from fake_plugin.config import Config
from fake_plugin.device import Device
from fake_plugin.hardware.board import Board
from fake_plugin.hardware.card import Card
from fake_plugin.hardware.state import State, StateFile
from fake_plugin.plan import Plan, Share
from fake_plugin.plugin import Plugin
from fake_plugin.resources.resource import Resource
from fake_plugin.serving.backoff import Pace
from fake_plugin.serving.readiness import Readiness
from fake_plugin.serving.timing import Timing
from fake_plugin.vendors import generic
from fake_plugin.vendors.offer import Offer
from lab.embedded.clock import RealClock
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.node import Settings
from lab.embedded.profile import PROFILES
from tests.unit.fake_plugin.kubelet import wait_until

RESOURCE = "fake.example.com/device"
#: As in earnest, but for what only costs time, and with looks too far apart to be of any help: what
#: is noticed within a test is noticed by an event.
TIMING = Timing(
    look=60.0,
    first_stream=0.3,
    settled=0.3,
    old_stream=0.02,
    unreachable=Pace(0.02, 0.2),
    refused=Pace(0.05, 0.2),
)
#: Of a kubelet's time: it dials for ten seconds where a socket was removed under its hands.
SPEED = 20
#: A look follows the other, whatever inotify says.
RESTLESS = replace(TIMING, look=0.01)

StartPlugin = Callable[..., Plugin]
Said = Callable[[str], list[dict[str, object]]]


@pytest.fixture
def fill_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what lets nothing more be written to a disk, to the end of the test."""

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    return lambda: monkeypatch.setattr(os, "fsync", fail)


@pytest.fixture
def kubelet(folder: Path, request: pytest.FixtureRequest) -> Iterator[DeviceManager]:
    """Return a kubelet that runs, of the version that a test gives as parameter."""
    profile = PROFILES[getattr(request, "param", "1.36")]
    kubelet = DeviceManager(folder, Settings(profile=profile), RealClock(SPEED))
    kubelet.start()
    yield kubelet
    kubelet.stop()


def plain_resource(name: str, count: int, state_dir: Path, *, pre_start: bool = False) -> Resource:
    """Return a resource with healthy devices d0, d1, …; on a board of its own."""
    cards = [Card(f"d{index}", "plain", index, index) for index in range(count)]
    offer = Offer(
        resource=name,
        pool="plain",
        devices=tuple(Device(card.uid, card) for card in cards),
        answer=lambda devices: generic.container_answer(name, devices),
        pre_start=pre_start,
    )
    return Resource(offer, Board(StateFile(state_dir), State(), sticky=False))


@pytest.fixture
def start_plugin(folder: Path, tmp_path: Path) -> Iterator[StartPlugin]:
    """Return what starts a plugin on the folder; all are stopped in the end."""
    started: list[Plugin] = []

    def start(
        *shares: Share,
        node: str = "worker",
        timing: Timing = TIMING,
        health: str | None = None,
        cdi_dir: Path | None = None,
    ) -> Plugin:
        config = Config(Path("not-read"), node, folder, tmp_path, health, cdi_dir=cdi_dir)
        shares = shares or (Share("chapter", "chapter-0", 2, resource=RESOURCE),)
        plugin = Plugin(config, Plan(shares), timing)
        started.append(plugin)
        plugin.start()
        return plugin

    yield start
    for plugin in started:
        plugin.stop()


@pytest.fixture
def wait_for_passes(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what waits until every registration has looked at its sockets from now on."""
    passes = itertools.count()
    set_ready = Readiness.set_ready

    def count_pass(readiness: Readiness, resource: str, *, ready: bool) -> None:
        set_ready(readiness, resource, ready=ready)
        next(passes)

    def wait() -> None:
        # The pass that runs at this moment may have looked already: the third is a whole one.
        seen = next(passes)
        wait_until("a whole pass", lambda: next(copy.copy(passes)) > seen + 3)

    monkeypatch.setattr(Readiness, "set_ready", count_pass)
    return wait


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Said:
    """Return what looks up the facts of every event of a name that was logged so far."""
    caplog.set_level(logging.INFO, logger="fake_plugin")

    def facts_of(event: str) -> list[dict[str, object]]:
        records = [record.__dict__ for record in caplog.records]
        return [dict(record["facts"]) for record in records if record.get("event") == event]

    return facts_of
