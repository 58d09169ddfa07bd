"""What a plugin refuses before it serves anything."""

import pytest

from fake_plugin.errors import WrongUse
from fake_plugin.hardware.card import Card
from fake_plugin.plan import Share
from fake_plugin.resources import list_size
from fake_plugin.resources.message_limit import MESSAGE_LIMIT
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.fake_plugin.conftest import RESOURCE, StartPlugin
from tests.unit.fake_plugin.kubelet import wait_for_devices


def test_too_many_devices_are_refused(
    start_plugin: StartPlugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that the kubelet does not take would end its stream, again and again."""
    assert MESSAGE_LIMIT == 4_194_304
    monkeypatch.setattr(list_size, "MESSAGE_LIMIT", 560)
    with pytest.raises(WrongUse, match=r"11 devices of .* are too many for one list") as caught:
        start_plugin(Share("chapter", "chapter-0", 11, resource=RESOURCE))
    assert "up to 616 bytes, and the kubelet takes 560" in caught.value.seen
    assert caught.value.remedy == "lower the pool's count to 10 or less"


def test_as_many_devices_as_fit_are_served(
    kubelet: DeviceManager, start_plugin: StartPlugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit holds for the longest list, in which all devices are unhealthy."""
    monkeypatch.setattr(list_size, "MESSAGE_LIMIT", 560)
    start_plugin(Share("chapter", "chapter-0", 10, resource=RESOURCE))
    wait_for_devices(kubelet, RESOURCE, 10)


def test_a_count_far_too_large_is_refused_before_devices_are_made(
    start_plugin: StartPlugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node's memory does not depend on what somebody wrote into a file."""
    made: list[int] = []

    def card(_node: str, _share: Share, index: int, minor: int) -> Card:
        made.append(index)
        return Card("x" * 41, "chapter", index, minor)

    monkeypatch.setattr("fake_plugin.vendors.generic.card", card)
    with pytest.raises(WrongUse, match=r"100000 devices of .* are too many"):
        start_plugin(Share("chapter", "chapter-0", 100_000, resource=RESOURCE))
    assert made == [99_999]
