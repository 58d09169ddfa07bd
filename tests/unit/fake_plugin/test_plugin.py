"""What a plugin refuses before it serves anything."""

import pytest

from fake_plugin import plugin
from fake_plugin.errors import WrongUse
from fake_plugin.fleet import Share
from fake_plugin.message_limit import MESSAGE_LIMIT
from tests.unit.fake_plugin.conftest import RESOURCE, StartPlugin
from tests.unit.fake_plugin.kubelet import Kubelet


def test_too_many_devices_are_refused(
    start_plugin: StartPlugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that the kubelet does not take would end its stream, again and again."""
    assert MESSAGE_LIMIT == 4_194_304
    monkeypatch.setattr(plugin, "MESSAGE_LIMIT", 560)
    with pytest.raises(WrongUse, match="11 devices are too many for one list") as caught:
        start_plugin(Share("chapter", RESOURCE, 11))
    assert "up to 616 bytes, and the kubelet takes 560" in caught.value.seen


def test_as_many_devices_as_fit_are_served(
    kubelet: Kubelet, start_plugin: StartPlugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit holds for the longest list, in which all devices are unhealthy."""
    monkeypatch.setattr(plugin, "MESSAGE_LIMIT", 560)
    start_plugin(Share("chapter", RESOURCE, 10))
    kubelet.wait_for_devices(RESOURCE, 10)


def test_a_count_far_too_large_is_refused_before_devices_are_made(
    start_plugin: StartPlugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node's memory does not depend on what somebody wrote into a file."""
    made: list[int] = []

    def device_id(_node: str, _pool: str, index: int) -> str:
        made.append(index)
        return "x" * 41

    monkeypatch.setattr("fake_plugin.vendors.generic.device_id", device_id)
    with pytest.raises(WrongUse, match="100000 devices are too many"):
        start_plugin(Share("chapter", RESOURCE, 100_000))
    assert made == [0]
