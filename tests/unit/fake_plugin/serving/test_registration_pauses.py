"""How long a registration waits between its attempts, and where it does not."""

import time
from dataclasses import replace

import pytest

from fake_plugin.serving.backoff import Backoff, Pace
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.fake_plugin.conftest import RESOURCE, TIMING, Said, StartPlugin
from tests.unit.fake_plugin.kubelet import wait_for_devices, wait_until


@pytest.fixture
def paces(monkeypatch: pytest.MonkeyPatch) -> list[Pace]:
    """Return a list that grows with each failure, by the pace that it is followed at."""
    followed: list[Pace] = []
    failed = Backoff.failed

    def follow(backoff: Backoff, pace: Pace) -> None:
        followed.append(pace)
        failed(backoff, pace)

    monkeypatch.setattr(Backoff, "failed", follow)
    return followed


def test_a_refusal_is_followed_at_a_pace_of_its_own(
    kubelet: DeviceManager, start_plugin: StartPlugin, paces: list[Pace]
) -> None:
    """A kubelet that says no will say so again: it is not asked as often as one that is away."""
    kubelet.misbehaviour.refuses = "no"
    start_plugin()
    wait_until("two attempts", lambda: len(paces) >= 2)
    assert set(paces) == {TIMING.refused}


def test_a_kubelet_that_is_away_is_looked_for_often(
    start_plugin: StartPlugin, paces: list[Pace]
) -> None:
    """A kubelet that starts is told within seconds."""
    start_plugin()
    wait_until("two looks", lambda: len(paces) >= 2)
    assert set(paces) == {TIMING.unreachable}


def test_a_new_kubelet_is_not_kept_waiting_for_the_refusal_of_the_old(
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said
) -> None:
    """After many refusals the plugin pauses for a minute, but not when the kubelet is a new one."""
    kubelet.misbehaviour.refuses = "not now"
    start_plugin(timing=replace(TIMING, refused=Pace(60, 60)))
    wait_until("a refusal", lambda: bool(said("refused")))
    kubelet.misbehaviour.refuses = ""
    kubelet.restart()
    wait_for_devices(kubelet, RESOURCE, 2)


@pytest.mark.parametrize("watches", [True, False])
def test_the_kubelet_has_time_to_see_the_end_of_the_old_stream(
    kubelet: DeviceManager,
    start_plugin: StartPlugin,
    monkeypatch: pytest.MonkeyPatch,
    *,
    watches: bool,
) -> None:
    """Between the end and the next Register there is a pause, where there was a stream at all."""
    pauses: list[float] = []
    sleep = time.sleep

    def take_down(seconds: float) -> None:
        pauses.append(seconds)
        sleep(seconds)

    monkeypatch.setattr(time, "sleep", take_down)
    paused: list[bool] = []
    kubelet.misbehaviour.on_register = lambda: paused.append(TIMING.old_stream in pauses)
    kubelet.misbehaviour.never_watches = not watches
    start_plugin()
    wait_until("a stream", lambda: [bool(c.lists) for c in kubelet.registrations] == [watches])
    (kubelet.folder / kubelet.registrations[0].request.endpoint).unlink()
    wait_until("another Register", lambda: len(kubelet.registrations) >= 2)
    assert paused[:2] == [False, watches]
