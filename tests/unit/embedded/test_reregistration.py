"""What a second registration of a resource does, faults of each version included.

Source: devicemanager/manager.go:PluginConnected, PluginDisconnected.
"""

from pathlib import Path

import pytest

from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.embedded.conftest import (
    Serve,
    StartPlugin,
    lose,
    send,
    view_after_tick,
    wait_for_end,
)
from tests.unit.embedded.plugin import RESOURCE, healthy, refusal, unhealthy
from tests.unit.embedded.pods import pod_of
from tests.unit.waiting import wait_until

OLD = pytest.mark.parametrize("profile", ["1.34", "1.35", "1.36"], indirect=True)
NEW = pytest.mark.parametrize("profile", ["1.37"], indirect=True)
ALL = pytest.mark.parametrize("profile", ["1.34", "1.37"], indirect=True)


@ALL
def test_both_streams_write_to_one_set_of_devices(kubelet: DeviceManager, serve: Serve) -> None:
    """The last list counts, whichever plugin sent it."""
    old = serve(healthy("a", "b"), name="old.sock")
    serve(healthy("a", "b", "c"), name="new.sock")
    assert view_after_tick(kubelet) == (3, 3)
    send(kubelet, old, healthy("a"))
    assert view_after_tick(kubelet) == (1, 1)


@OLD
def test_the_end_of_the_old_plugin_takes_the_new_one_with_it(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """The new one lives and is cut off, until somebody registers again (#121994, #127803)."""
    old = serve(healthy("a", "b"), name="old.sock")
    new = serve(healthy("a", "b"), name="new.sock")
    lose(kubelet, old)
    wait_for_end(kubelet, new)
    assert view_after_tick(kubelet) == (2, 0)
    new.register()
    send(kubelet, new, healthy("a", "b"))
    assert view_after_tick(kubelet) == (2, 2)


@NEW
def test_the_end_of_one_plugin_leaves_the_other(kubelet: DeviceManager, serve: Serve) -> None:
    """The last one to go takes the devices with it (#135437)."""
    old = serve(healthy("a", "b", "c"), name="old.sock")
    new = serve(healthy("a", "b", "c"), name="new.sock")
    lose(kubelet, old)
    assert view_after_tick(kubelet) == (3, 3)
    assert kubelet.admit(pod_of("u", 1)) is None
    assert kubelet.journal.calls("Allocate")[-1].socket == "new.sock"
    lose(kubelet, new)
    assert view_after_tick(kubelet) == (3, 0)


@NEW
def test_a_plugin_that_joins_and_leaves_again_changes_nothing(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """The first one serves as before; so a roll-out can be taken back."""
    serve(healthy("a", "b"), name="old.sock")
    lose(kubelet, serve(healthy("a", "b"), name="new.sock"))
    assert view_after_tick(kubelet) == (2, 2)
    assert kubelet.admit(pod_of("u", 2)) is None
    assert kubelet.journal.calls("Allocate")[-1].socket == "old.sock"


@NEW
def test_what_is_left_counts_from_its_next_list_on(kubelet: DeviceManager, serve: Serve) -> None:
    """Until then the devices of the one that has gone stay, as in the scenario of two plugins."""
    old = serve(healthy("a", "b"), name="old.sock")
    lose(kubelet, serve(healthy("x", "y", "z"), name="new.sock"))
    assert view_after_tick(kubelet) == (3, 3)
    send(kubelet, old, healthy("a"), unhealthy("b"))
    assert view_after_tick(kubelet) == (2, 1)


def fail_to_register(start_plugin: StartPlugin) -> None:
    """Let another plugin try to register the resource in vain."""
    failing = start_plugin("failing.sock")
    failing.script.options = "not today"
    refusal(failing.register)


@OLD
def test_a_failed_registration_makes_a_zombie_of_the_plugin_that_served(
    kubelet: DeviceManager, serve: Serve, start_plugin: StartPlugin, folder: Path
) -> None:
    """When that one dies, nobody notices: the node keeps its devices, and pods fail."""
    plugin = serve(healthy("a", "b"), name="old.sock")
    fail_to_register(start_plugin)
    lose(kubelet, plugin)
    assert view_after_tick(kubelet) == (2, 2)
    rejection = kubelet.admit(pod_of("u", 1))
    assert rejection
    assert rejection.message == (
        "Allocate failed due to rpc error: code = Unavailable desc = connection error: "
        f'desc = "transport: Error while dialing: dial unix {folder}/old.sock: connect: '
        'no such file or directory", which is unexpected'
    )


@NEW
def test_a_failed_registration_leaves_the_plugin_that_serves(
    kubelet: DeviceManager, serve: Serve, start_plugin: StartPlugin
) -> None:
    """Its end is noticed as ever."""
    plugin = serve(healthy("a", "b"), name="old.sock")
    fail_to_register(start_plugin)
    assert view_after_tick(kubelet) == (2, 2)
    lose(kubelet, plugin)
    assert view_after_tick(kubelet) == (2, 0)


@OLD
def test_a_socket_may_be_registered_twice(
    kubelet: DeviceManager, serve: Serve, start_plugin: StartPlugin
) -> None:
    """It is accepted while it lives, and can come back after its end."""
    plugin = serve(healthy("a", "b"))
    plugin.register()
    # A list that came after the first end would bring the devices back.
    wait_until("the list of the second stream", lambda: kubelet.registrations[-1].lists == 1)
    lose(kubelet, plugin)
    assert view_after_tick(kubelet) == (2, 0)
    again = start_plugin()
    again.register()
    send(kubelet, again, healthy("a", "b"))
    assert view_after_tick(kubelet) == (2, 2)


@NEW
def test_a_socket_that_is_registered_twice_is_wedged(
    kubelet: DeviceManager, serve: Serve, start_plugin: StartPlugin, folder: Path
) -> None:
    """Refused for good: the end of its plugin is not seen, and no restart of it helps."""
    plugin = serve(healthy("a", "b"))
    words = f"device plugin already connected: {folder}/plugin.sock"
    assert refusal(plugin.register) == words
    lose(kubelet, plugin)
    assert view_after_tick(kubelet) == (2, 2)
    again = start_plugin()
    assert refusal(again.register) == words


@NEW
@pytest.mark.parametrize("way_out", ["restart", "new name"])
def test_there_are_two_ways_out_of_the_wedge(
    kubelet: DeviceManager, serve: Serve, start_plugin: StartPlugin, way_out: str
) -> None:
    """A restart of the kubelet, or another name for the socket."""
    plugin = serve(healthy("a", "b"))
    refusal(plugin.register)
    lose(kubelet, plugin)
    if way_out == "restart":
        kubelet.restart()
    again = start_plugin("plugin.sock" if way_out == "restart" else "other.sock")
    again.register()
    send(kubelet, again, healthy("a", "b", "c"))
    assert view_after_tick(kubelet) == (3, 3)


@ALL
def test_a_plugin_that_restarts_on_its_old_name_is_accepted(
    kubelet: DeviceManager, serve: Serve, clock: VirtualClock
) -> None:
    """Once the kubelet has seen the end of the old stream, the name is free."""
    lose(kubelet, serve(healthy("a", "b")))
    serve(healthy("a", "b", "c"))
    clock.advance(400)
    assert kubelet.status.allocatable == {RESOURCE: 3}
