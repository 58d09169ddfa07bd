"""The cases of Kubernetes' own e2e_node/device_plugin_failures_test.go, one by one.

What takes them minutes on a node takes a virtual clock no time.
"""

from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.embedded.conftest import (
    Serve,
    StartPlugin,
    lose,
    send,
    view,
    view_after_tick,
    wait_for_end,
)
from tests.unit.embedded.plugin import healthy, refusal, unhealthy
from tests.unit.embedded.pods import pod_of


def test_options_that_fail(
    kubelet: DeviceManager, start_plugin: StartPlugin, clock: VirtualClock
) -> None:
    """An error for the plugin, one call, and no resource."""
    plugin = start_plugin()
    plugin.script.options = "GetDevicePluginOptions failed"
    assert refusal(plugin.register).startswith("failed to get device plugin options: ")
    clock.advance(60)
    assert view(kubelet) == (None, None)
    assert len(kubelet.journal.calls()) == 2


def test_a_device_that_fails_and_recovers(kubelet: DeviceManager, serve: Serve) -> None:
    """From 1 to 0 and back."""
    plugin = serve(healthy("a"))
    assert view_after_tick(kubelet) == (1, 1)
    send(kubelet, plugin, unhealthy("a"))
    assert view_after_tick(kubelet) == (1, 0)
    send(kubelet, plugin, healthy("a"))
    assert view_after_tick(kubelet) == (1, 1)


def test_a_device_that_fails_while_a_pod_holds_it(
    kubelet: DeviceManager, serve: Serve, clock: VirtualClock
) -> None:
    """The pod runs on, and its end makes the device no healthier (#60388)."""
    plugin = serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    send(kubelet, plugin, unhealthy("a"))
    clock.advance(60)
    assert view(kubelet) == (1, 0)
    assert len(kubelet.roster.active()) == 1
    kubelet.remove("u")
    clock.advance(60)
    assert view(kubelet) == (1, 0)


def test_four_devices_of_which_some_fail(kubelet: DeviceManager, serve: Serve) -> None:
    """3, 4, 2, 3 and 4 of 4."""
    plugin = serve(healthy("a", "b", "c"), unhealthy("d"))
    seen = [view_after_tick(kubelet)]
    for well, sick in (("abcd", ""), ("ab", "cd"), ("abc", "d"), ("abcd", "")):
        send(kubelet, plugin, healthy(*well), unhealthy(*sick))
        seen.append(view_after_tick(kubelet))
    assert seen == [(4, 3), (4, 4), (4, 2), (4, 3), (4, 4)]


def test_a_stream_that_fails_at_once(
    kubelet: DeviceManager, start_plugin: StartPlugin, clock: VirtualClock
) -> None:
    """0 of 0, and two calls however long one waits."""
    plugin = start_plugin()
    plugin.end_stream()
    plugin.register()
    wait_for_end(kubelet, plugin)
    clock.advance(60)
    assert view(kubelet) == (0, 0)
    assert len(kubelet.journal.calls()) == 1 + 2


def test_a_stream_that_fails_later(
    kubelet: DeviceManager, serve: Serve, clock: VirtualClock
) -> None:
    """0 of 2 for five minutes, no second call, then 0 of 0."""
    plugin = serve(healthy("a", "b"))
    plugin.end_stream()
    wait_for_end(kubelet, plugin)
    clock.advance(290)
    assert view(kubelet) == (2, 0)
    clock.advance(70)
    assert view(kubelet) == (0, 0)
    assert len(kubelet.journal.calls("ListAndWatch")) == 1


def test_a_plugin_that_stops(kubelet: DeviceManager, serve: Serve, clock: VirtualClock) -> None:
    """The same to the node."""
    lose(kubelet, serve(healthy("a", "b")))
    clock.advance(290)
    assert view(kubelet) == (2, 0)
    clock.advance(70)
    assert view(kubelet) == (0, 0)
