"""What the status of the node says after each step of a plugin's life, and when it says so."""

import pytest

from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.node import Settings
from tests.unit.embedded.conftest import (
    Serve,
    StartKubelet,
    StartPlugin,
    lose,
    send,
    view,
    view_after_tick,
    wait_for_end,
)
from tests.unit.embedded.plugin import RESOURCE, healthy, refusal, unhealthy
from tests.unit.waiting import wait_until

ABSENT = (None, None)


def test_nothing_is_shown_before_the_first_list(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """Registered is not yet known to have devices: there is no key."""
    start_plugin().register()
    assert view_after_tick(kubelet) == ABSENT


def test_nothing_is_shown_of_a_plugin_without_options(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """Nor is there a key for a registration that was refused."""
    plugin = start_plugin()
    plugin.script.options = "none"
    refusal(plugin.register)
    assert view_after_tick(kubelet) == ABSENT


def test_a_stream_that_fails_at_once_is_shown_as_zero(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """The key is there, and the list is not asked for again: two calls in all."""
    plugin = start_plugin()
    plugin.end_stream()
    plugin.register()
    wait_for_end(kubelet, plugin)
    assert view_after_tick(kubelet) == (0, 0)
    calls = [call.name for call in kubelet.journal.calls() if call.name != "Register"]
    assert calls == ["GetDevicePluginOptions", "ListAndWatch"]


def test_an_empty_list_is_shown_as_zero(kubelet: DeviceManager, serve: Serve) -> None:
    """A plugin without devices has a key all the same."""
    serve()
    assert view_after_tick(kubelet) == (0, 0)


def test_a_plugin_that_goes_leaves_its_capacity(kubelet: DeviceManager, serve: Serve) -> None:
    """All its devices count as unhealthy."""
    plugin = serve(healthy("a", "b"))
    assert view_after_tick(kubelet) == (2, 2)
    lose(kubelet, plugin)
    assert view_after_tick(kubelet) == (2, 0)


def test_a_plugin_that_is_back_has_its_capacity_before_its_list(
    kubelet: DeviceManager, serve: Serve, start_plugin: StartPlugin
) -> None:
    """The devices of before count, as unhealthy ones, until the first list."""
    lose(kubelet, serve(healthy("a", "b")))
    plugin = start_plugin("next.sock")
    plugin.register()
    assert view_after_tick(kubelet) == (2, 0)
    send(kubelet, plugin, healthy("a", "b", "c"))
    assert view_after_tick(kubelet) == (3, 3)


def test_the_time_of_grace_ends_at_the_first_tick_after_five_minutes(
    kubelet: DeviceManager, serve: Serve, clock: VirtualClock
) -> None:
    """To the second; then the key stays, with zeros, and the devices are forgotten."""
    lose(kubelet, serve(healthy("a", "b")))
    clock.advance(300)
    assert view_after_tick(kubelet) == (2, 0)
    clock.advance(0.1)
    assert view_after_tick(kubelet) == (0, 0)
    assert kubelet.known.capacity == {}
    clock.advance(3600)
    assert view(kubelet) == (0, 0)


def test_nothing_expires_between_ticks(
    start_kubelet: StartKubelet, start_plugin: StartPlugin, clock: VirtualClock
) -> None:
    """The time of grace is looked at when the node's status is made, and only then."""
    kubelet = start_kubelet(Settings(tick_seconds=1000))
    plugin = start_plugin()
    plugin.register()
    send(kubelet, plugin, healthy("a"))
    lose(kubelet, plugin)
    clock.advance(900)
    assert (kubelet.known.capacity, kubelet.known.allocatable) == ({RESOURCE: 1}, {RESOURCE: 0})
    kubelet.tick()
    assert kubelet.known.capacity == {}


def test_a_plugin_that_is_back_in_time_starts_the_grace_anew(
    kubelet: DeviceManager, serve: Serve, clock: VirtualClock
) -> None:
    """Each of two absences is shorter than five minutes, so nothing expires."""
    lose(kubelet, serve(healthy("a"), name="one.sock"))
    clock.advance(299)
    lose(kubelet, serve(healthy("a"), name="two.sock"))
    clock.advance(299)
    assert view_after_tick(kubelet) == (1, 0)


def test_the_status_follows_within_a_tick(
    kubelet: DeviceManager, serve: Serve, clock: VirtualClock
) -> None:
    """The device manager knows at once; the node says so after up to 10.4 seconds."""
    serve(healthy("a"))
    assert kubelet.known.allocatable == {RESOURCE: 1}
    assert view(kubelet) == ABSENT
    clock.advance(10.4)
    assert view(kubelet) == (1, 1)


def test_a_key_taken_away_by_hand_is_back(kubelet: DeviceManager, serve: Serve) -> None:
    """While the plugin lives, each tick brings it back (seen on a real node)."""
    serve(healthy("a"))
    kubelet.tick()
    del kubelet.status.capacity[RESOURCE], kubelet.status.allocatable[RESOURCE]
    assert view_after_tick(kubelet) == (1, 1)


def test_a_key_of_an_expired_resource_can_be_taken_away(
    kubelet: DeviceManager, serve: Serve, clock: VirtualClock
) -> None:
    """It is the only way to be rid of it (#52510, #92396)."""
    lose(kubelet, serve(healthy("a")))
    clock.advance(330)
    assert view(kubelet) == (0, 0)
    del kubelet.status.capacity[RESOURCE]
    assert view_after_tick(kubelet) == ABSENT


def test_a_resource_patched_by_hand_is_all_allocatable(kubelet: DeviceManager) -> None:
    """What nobody registers stays, and its allocatable is its capacity."""
    kubelet.status.capacity["example.com/dongle"] = 3
    assert view_after_tick(kubelet, "example.com/dongle") == (3, 3)


def test_quantities_have_suffixes(kubelet: DeviceManager, serve: Serve) -> None:
    """In the JSON of the node, 1000 devices are "1k"."""
    serve(healthy(*map(str, range(999))), unhealthy("sick"))
    kubelet.tick()
    assert kubelet.status.quantities() == {
        "capacity": {RESOURCE: "1k"},
        "allocatable": {RESOURCE: "999"},
    }


@pytest.mark.parametrize(
    ("devices", "counts"),
    [
        pytest.param([healthy("x"), unhealthy("y")], (2, 1), id="one of each"),
        pytest.param([healthy("x", "x")], (1, 1), id="twice in the same state"),
        pytest.param([healthy("x"), unhealthy("x")], (2, 1), id="twice, in both states"),
        pytest.param([unhealthy("x"), healthy("x")], (2, 1), id="the other way round"),
        pytest.param([healthy("")], (1, 1), id="an empty ID"),
        pytest.param([healthy("x" * 200)], (1, 1), id="a long ID"),
    ],
)
def test_a_list_is_counted_as_two_sets(
    kubelet: DeviceManager, serve: Serve, devices: list[list[object]], counts: tuple[int, int]
) -> None:
    """Capacity is the healthy and the unhealthy, allocatable the healthy."""
    serve(*devices)
    assert view_after_tick(kubelet) == counts


@pytest.mark.parametrize("word", ["healthy", "HEALTHY", "", "Healthy ", "Unknown"])
def test_only_one_word_is_healthy(kubelet: DeviceManager, serve: Serve, word: str) -> None:
    """It is compared to the letter."""
    (device,) = healthy("x")
    device.health = word
    serve([device])
    assert view_after_tick(kubelet) == (1, 0)


def test_the_last_of_equal_ids_is_the_device(kubelet: DeviceManager, serve: Serve) -> None:
    """Seen on the real device manager: x/H, x/U, y/healthy, ""/H come to 4 and 2."""
    odd = unhealthy("y")
    odd[0].health = "healthy"
    serve(healthy("x"), unhealthy("x"), odd, healthy(""))
    assert view_after_tick(kubelet) == (4, 2)
    devices = kubelet.registrations[0].devices or {}
    assert devices["x"].health == "Unhealthy"


def test_a_device_that_is_left_out_is_forgotten(kubelet: DeviceManager, serve: Serve) -> None:
    """A list replaces the one before, without any patience."""
    plugin = serve(healthy("a", "b"), unhealthy("c"))
    send(kubelet, plugin, healthy("b"))
    assert view_after_tick(kubelet) == (1, 1)


def test_a_list_over_four_mebibytes_ends_the_stream(kubelet: DeviceManager, serve: Serve) -> None:
    """What was known before stays, as unhealthy (#109304)."""
    plugin = serve(healthy("a", "b"))
    plugin.list(healthy(*(f"{number:0100}" for number in range(45_000))))
    wait_for_end(kubelet, plugin)
    (call,) = kubelet.journal.calls("ListAndWatch")
    assert call.error.startswith(
        "rpc error: code = ResourceExhausted desc = grpc: received message larger than max ("
    )
    assert call.error.endswith(" vs. 4194304)")
    assert view_after_tick(kubelet) == (2, 0)


def test_a_first_list_over_four_mebibytes_is_shown_as_zero(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """There is a key then, as on a real node."""
    plugin = start_plugin()
    plugin.list(healthy(*(f"{number:0100}" for number in range(45_000))))
    plugin.register()
    wait_for_end(kubelet, plugin)
    assert view_after_tick(kubelet) == (0, 0)


def test_resources_do_not_touch_each_other(kubelet: DeviceManager, serve: Serve) -> None:
    """The end of one plugin is none of another's business."""
    first = serve(healthy("a"), resource="a.com/x", name="a.sock")
    serve(healthy("a", "b"), resource="b.com/x", name="b.sock")
    lose(kubelet, first)
    kubelet.tick()
    assert (view(kubelet, "a.com/x"), view(kubelet, "b.com/x")) == ((1, 0), (2, 2))


def test_a_stream_may_be_silent_for_ever(
    kubelet: DeviceManager, serve: Serve, clock: VirtualClock
) -> None:
    """There is no heartbeat."""
    serve(healthy("a"))
    clock.advance(7 * 24 * 3600)
    assert view(kubelet) == (1, 1)
    wait_until("still a stream", lambda: not kubelet.registrations[0].ended.is_set())
