"""Registration that goes wrong on command, and what the kubelet then sees."""

import json
from typing import Any

import pytest

from fake_plugin.faults.fault import Delay, Drop, Effect, Fail, Fault, Hang
from fake_plugin.plugin import Plugin
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.fake_plugin.conftest import RESOURCE, Said
from tests.unit.fake_plugin.faults.conftest import StartFaulty
from tests.unit.fake_plugin.kubelet import sockets_told, wait_for_devices
from tests.unit.waiting import wait_until


def journalled(plugin: Plugin) -> list[dict[str, Any]]:
    """Return what the journal has of Register."""
    lines = [json.loads(line) for line in plugin.switchboard.journal.since(1, 9)[0]]
    return [line for line in lines if line["call"] == "Register"]


def register(effect: Effect, nth: int | None = 1) -> tuple[Fault, ...]:
    """Return a rule about Register, by default about the first."""
    return (Fault("fleet-1", "Register", effect, nth=nth),)


def test_the_kubelet_is_made_to_refuse(
    kubelet: DeviceManager, start_faulty: StartFaulty, said: Said
) -> None:
    """It says so in its own words, and takes the resource next time."""
    plugin = start_faulty(*register(Fail("ignored")))
    wait_for_devices(kubelet, RESOURCE, 2)
    assert len(sockets_told(kubelet)) == 2
    (reason,) = [facts["reason"] for facts in said("refused")]
    assert reason == (
        'requested API version "v0-by-a-fault" is not supported by kubelet. '
        'Supported version is ["v1beta1"] (UNKNOWN)'
    )

    # The kubelet has the devices before its answer to Register has come back.
    wait_until("both calls in the journal", lambda: len(journalled(plugin)) == 2)
    assert [line.get("fault") for line in journalled(plugin)] == ["fleet-1", None]


def test_a_registration_comes_late(
    kubelet: DeviceManager, start_faulty: StartFaulty, said: Said
) -> None:
    """The log says what it waits for, and the journal how long that took."""
    plugin = start_faulty(*register(Delay(0.05)))
    wait_for_devices(kubelet, RESOURCE, 2)
    assert said("register-held") == [{"resource": RESOURCE, "fault": "fleet-1"}]
    wait_until("the call in the journal", lambda: len(journalled(plugin)) == 1)
    (line,) = journalled(plugin)
    assert (line["code"], line["fault"]) == ("OK", "fleet-1")
    assert line["endMs"] - line["startMs"] >= 50
    assert line["request"]["endpoint"] == sockets_told(kubelet)[0]


def test_a_registration_comes_when_its_rule_goes(
    kubelet: DeviceManager, start_faulty: StartFaulty, said: Said
) -> None:
    """Until then the kubelet hears nothing, and the plugin has no socket."""
    plugin = start_faulty(*register(Hang(), nth=None))
    wait_until("a word about it", lambda: bool(said("register-held")))
    assert sockets_told(kubelet) == []
    assert list(kubelet.folder.glob("gpulab-*")) == []
    (held,) = plugin.switchboard.journal.open_calls()
    assert (held["call"], held["fault"]) == ("Register", "fleet-1")
    assert plugin.switchboard.book.remove("fleet-1")
    wait_for_devices(kubelet, RESOURCE, 2)


def test_a_registration_that_never_comes_does_not_keep_the_plugin(
    kubelet: DeviceManager, start_faulty: StartFaulty, said: Said
) -> None:
    """The plugin ends all the same, and the journal has it as a call that was called off."""
    plugin = start_faulty(*register(Hang()))
    wait_until("a word about it", lambda: bool(said("register-held")))
    plugin.stop()
    assert sockets_told(kubelet) == []
    (line,) = journalled(plugin)
    assert (line["code"], line["fault"]) == ("CANCELLED", "fleet-1")
    assert "endpoint" not in line["request"]


def test_another_kubelet_is_another_registration(
    kubelet: DeviceManager, start_faulty: StartFaulty, said: Said
) -> None:
    """A rule about the first Register does not hold the one that a new kubelet needs."""
    start_faulty(*register(Hang()))
    wait_until("a word about it", lambda: bool(said("register-held")))
    kubelet.restart()
    wait_for_devices(kubelet, RESOURCE, 2)


@pytest.mark.parametrize("effect", [Drop(0), Drop(0.05), Fail("no list")])
def test_a_stream_that_ends_is_made_up_for(
    kubelet: DeviceManager, start_faulty: StartFaulty, effect: Effect
) -> None:
    """The kubelet never asks again by itself: the plugin registers once more."""
    start_faulty(Fault("fleet-1", "ListAndWatch", effect, nth=1))
    wait_until("another Register", lambda: len(sockets_told(kubelet)) == 2)
    wait_for_devices(kubelet, RESOURCE, 2)


def test_options_that_fail_are_a_refusal_of_the_kubelet(
    kubelet: DeviceManager, start_faulty: StartFaulty, said: Said
) -> None:
    """The kubelet asks for them within Register, and the plugin tries again."""
    start_faulty(Fault("fleet-1", "GetDevicePluginOptions", Fail("boom"), nth=1))
    wait_for_devices(kubelet, RESOURCE, 2)
    assert len(said("refused")) == 1


def test_a_socket_is_removed_under_the_plugin(
    kubelet: DeviceManager, start_faulty: StartFaulty, said: Said
) -> None:
    """On command, and the plugin comes back on another."""
    plugin = start_faulty()
    wait_for_devices(kubelet, RESOURCE, 2)
    assert plugin.remove_socket(RESOURCE)
    wait_until("another Register", lambda: len(sockets_told(kubelet)) == 2)
    wait_for_devices(kubelet, RESOURCE, 2)
    assert said("registration-lost")[0]["reason"] == "the socket of this plugin was removed"


def test_a_socket_that_is_not_there_cannot_be_removed(start_faulty: StartFaulty) -> None:
    """Without a kubelet there is none."""
    assert not start_faulty().remove_socket(RESOURCE)
