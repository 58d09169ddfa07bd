"""Which devices a pod gets, and in which words it gets none.

Source: devicemanager/manager.go:devicesToAllocate, callGetPreferredAllocationIfAvailable.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    AllocateResponse,
    ContainerAllocateResponse,
    DevicePluginOptions,
    PreferredAllocationRequest,
)
from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.device_manager import DeviceManager, KubeletStopped
from lab.embedded.kubelet.ledger import KubeletCrash
from lab.embedded.kubelet.node import Settings
from lab.embedded.kubelet.pod import Container
from tests.unit.embedded.conftest import (
    Serve,
    StartPlugin,
    lose,
    send,
    view_after_tick,
    wait_for_end,
)
from tests.unit.embedded.plugin import RESOURCE, Script, ScriptedPlugin, healthy, unhealthy
from tests.unit.embedded.pods import devices_of, pod_of, pod_with, refused
from tests.unit.waiting import wait_until

PREFERS = DevicePluginOptions(get_preferred_allocation_available=True)


def asked(kubelet: DeviceManager) -> list[list[str]]:
    """Return the devices of every Allocate, in the order of the calls."""
    requests = [call.request for call in kubelet.journal.calls("Allocate")]
    return [
        sorted(each.container_requests[0].devices_ids)
        for each in requests
        if isinstance(each, AllocateRequest)
    ]


def test_a_pod_gets_free_healthy_devices(kubelet: DeviceManager, serve: Serve) -> None:
    """As many as it asks for, by one call with one container."""
    serve(healthy("a", "b"), unhealthy("c"))
    assert kubelet.admit(pod_of("u", 2)) is None
    assert devices_of(kubelet, "u") == {"a", "b"}
    assert asked(kubelet) == [["a", "b"]]


def test_every_container_and_resource_is_asked_for_apart(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """Two containers with two resources are four calls, and never more than one at once."""
    serve(healthy("a1", "a2"), resource="a.com/x", name="a.sock")
    serve(healthy("b1", "b2"), resource="b.com/x", name="b.sock")
    limits = {"a.com/x": 1, "b.com/x": 1}
    assert kubelet.admit(pod_with("u", Container("one", limits), Container("two", limits))) is None
    assert sorted(call.resource for call in kubelet.journal.calls("Allocate")) == [
        "a.com/x",
        "a.com/x",
        "b.com/x",
        "b.com/x",
    ]
    assert {len(devices) for devices in asked(kubelet)} == {1}


def test_a_resource_that_nobody_serves_is_passed_over(kubelet: DeviceManager) -> None:
    """The pod gets in without a device: the trap after a lost checkpoint (#116125)."""
    assert kubelet.admit(pod_of("u", 1)) is None
    assert kubelet.journal.calls() == []


def test_a_resource_whose_stream_failed_at_once_is_passed_over(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """The node shows it with 0, and the kubelet does not take it for a plugin's all the same."""
    plugin = start_plugin()
    plugin.end_stream()
    plugin.register()
    wait_for_end(kubelet, plugin)
    assert kubelet.admit(pod_of("u", 1)) is None


def test_without_healthy_devices_a_pod_is_refused(kubelet: DeviceManager, serve: Serve) -> None:
    """Neither a request of 1 nor one of 0 passes."""
    serve(unhealthy("a"))
    words = f"no healthy devices present; cannot allocate unhealthy devices {RESOURCE}"
    assert refused(kubelet, pod_of("one", 1)) == words
    assert refused(kubelet, pod_of("none", 0)) == words


def test_a_request_of_zero_passes_where_a_device_is_healthy(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """And the plugin is not asked."""
    serve(healthy("a"))
    assert kubelet.admit(pod_of("u", 0)) is None
    assert asked(kubelet) == []


@pytest.mark.parametrize(("wanted", "taken", "free"), [(3, 0, 2), (1, 2, 0), (2, 1, 1)])
def test_too_few_free_devices_are_counted_in_the_refusal(
    kubelet: DeviceManager, serve: Serve, wanted: int, taken: int, free: int
) -> None:
    """It says how many are wanted and how many are there."""
    serve(healthy("a", "b"), unhealthy("c"))
    if taken:
        kubelet.admit(pod_of("first", taken))
    assert refused(kubelet, pod_of("u", wanted)) == (
        f"requested number of devices unavailable for {RESOURCE}. "
        f"Requested: {wanted}, Available: {free}"
    )


def test_another_request_of_the_same_container_is_refused(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """It cannot happen by the API, and is refused with both numbers."""
    serve(healthy("a", "b"))
    kubelet.admit(pod_of("u", 1))
    assert refused(kubelet, pod_of("u", 2)) == (
        f'pod "u" container "app" changed request for resource "{RESOURCE}" from 1 to 2'
    )


def test_a_resource_that_expired_while_held_is_unregistered(
    kubelet: DeviceManager, serve: Serve, clock: VirtualClock
) -> None:
    """Somebody holds a device of it, so it is not passed over, and nobody serves it."""
    plugin = serve(healthy("a", "b"))
    kubelet.admit(pod_of("holder", 1))
    lose(kubelet, plugin)
    clock.advance(330)
    assert refused(kubelet, pod_of("u", 1)) == f"cannot allocate unregistered device {RESOURCE}"


def test_devices_that_became_unhealthy_are_not_given_again(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """A pod that is admitted again needs all that it holds to be well."""
    plugin = serve(healthy("a", "b"))
    kubelet.admit(pod_of("u", 1))
    (held,) = devices_of(kubelet, "u")
    other = {"a": "b", "b": "a"}[held]
    send(kubelet, plugin, unhealthy(held), healthy(other))
    assert refused(kubelet, pod_of("u", 1)) == (
        "previously allocated devices are no longer healthy; "
        f"cannot allocate unhealthy devices {RESOURCE}"
    )


def test_a_pod_that_is_admitted_again_keeps_its_devices(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """The plugin is not asked again."""
    serve(healthy("a", "b"))
    kubelet.admit(pod_of("u", 1))
    held = devices_of(kubelet, "u")
    assert kubelet.admit(pod_of("u", 1)) is None
    assert (devices_of(kubelet, "u"), len(asked(kubelet))) == (held, 1)


def test_a_device_that_came_back_is_still_held(kubelet: DeviceManager, serve: Serve) -> None:
    """Left out of a list and listed again, it is not free."""
    plugin = serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    send(kubelet, plugin, healthy("b"))
    send(kubelet, plugin, healthy("a", "b"))
    assert kubelet.admit(pod_of("v", 1)) is None
    assert devices_of(kubelet, "v") == {"b"}


def test_devices_are_freed_when_the_next_pod_asks(kubelet: DeviceManager, serve: Serve) -> None:
    """Until then the kubelet has them as held, in its checkpoint too (#137010)."""
    serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    kubelet.remove("u")
    assert devices_of(kubelet, "u") == {"a"}
    assert kubelet.admit(pod_of("v", 1)) is None
    assert devices_of(kubelet, "u") == set()


def choices(folder: Path, seed: int) -> list[list[str]]:
    """Return what five pods get of fifty devices, one after the other."""
    kubelet = DeviceManager(folder, Settings(seed=seed), VirtualClock())
    kubelet.start()
    plugin = ScriptedPlugin(folder)
    plugin.register()
    send(kubelet, plugin, healthy(*(f"d{number:02}" for number in range(50))))
    for number in range(5):
        kubelet.admit(pod_of(str(number), 1))
    kubelet.stop()
    plugin.stop()
    return asked(kubelet)


def test_the_choice_depends_on_the_seed_alone(folder: Path) -> None:
    """Of many free devices it is not the first that is taken, and the same at every run."""
    first, again, other = (
        choices(folder / name, seed) for name, seed in (("a", 7), ("b", 7), ("c", 8))
    )
    assert first == again
    assert first != other


def test_a_hanging_allocate_holds_up_the_whole_node(kubelet: DeviceManager, serve: Serve) -> None:
    """Pods without devices wait as well, and the journal shows what for (#117435, #129249)."""
    answer = threading.Event()
    script = Script(allocate=lambda _: (answer.wait(), AllocateResponse())[1])
    serve(healthy("a"), script=script)
    with ThreadPoolExecutor(2) as aside:
        first = aside.submit(kubelet.admit, pod_of("u", 1))
        wait_until("a call that hangs", lambda: bool(kubelet.journal.open_calls()))
        second = aside.submit(kubelet.admit, pod_with("v", Container("app", {})))
        assert [call.name for call in kubelet.journal.open_calls()] == ["Allocate"]
        assert not second.done()
        answer.set()
        assert first.result(10)
        assert second.result(10) is None


def test_a_kubelet_that_ends_within_allocate_decides_nothing(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """The pod is neither admitted nor rejected, and tried again by the next kubelet."""
    answer = threading.Event()
    script = Script(allocate=lambda _: (answer.wait(), AllocateResponse())[1])
    serve(healthy("a"), script=script)
    with ThreadPoolExecutor(1) as aside:
        admission = aside.submit(kubelet.admit, pod_of("u", 1))
        wait_until("a call that hangs", lambda: bool(kubelet.journal.open_calls()))
        kubelet.stop()
        with pytest.raises(KubeletStopped):
            admission.result(10)
        answer.set()
    assert [pod.uid for pod in kubelet.roster.active()] == ["u"]


def test_a_failed_allocate_leaves_nothing_allocated(kubelet: DeviceManager, serve: Serve) -> None:
    """The pod is refused in the plugin's words, and the next one can have the devices."""
    plugin = serve(healthy("a"), script=Script(allocate=lambda _: "device busy"))
    words = "rpc error: code = Unknown desc = device busy"
    assert refused(kubelet, pod_of("u", 1)) == words
    plugin.script = Script()
    assert kubelet.admit(pod_of("v", 1)) is None


def test_an_answer_for_no_container_leaks_its_devices(kubelet: DeviceManager, serve: Serve) -> None:
    """They stay allocated to nobody, until some other pod that held a device is over."""
    plugin = serve(healthy("a", "b"))
    kubelet.admit(pod_of("holder", 1))
    plugin.script.allocate = lambda _: AllocateResponse()
    assert refused(kubelet, pod_of("u", 1)) == "no containers return in allocation response "
    plugin.script = Script()
    assert refused(kubelet, pod_of("v", 1)).endswith("Requested: 1, Available: 0")
    kubelet.remove("holder")
    assert kubelet.admit(pod_of("w", 2)) is None


def test_only_the_first_answer_counts(kubelet: DeviceManager, serve: Serve) -> None:
    """There was one container in the request, so what follows is not read."""
    first, second = (ContainerAllocateResponse(envs={"N": number}) for number in ("1", "2"))
    both = AllocateResponse(container_responses=[first, second])
    serve(healthy("a"), script=Script(allocate=lambda _: both))
    pod = pod_of("u", 1)
    kubelet.admit(pod)
    assert kubelet.start_container(pod, pod.containers[0]).envs == {"N": "1"}


def test_a_device_that_goes_within_its_allocate_ends_the_kubelet(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """The real one dies of a nil pointer there; the pod waits for its next start."""
    plugin = serve(healthy("a"))

    def lose_it(_: AllocateRequest) -> AllocateResponse:
        send(kubelet, plugin, healthy("b"))
        return AllocateResponse(container_responses=[ContainerAllocateResponse()])

    plugin.script.allocate = lose_it
    with pytest.raises(KubeletCrash, match="nil pointer dereference"):
        kubelet.admit(pod_of("u", 1))
    with pytest.raises(KubeletStopped):
        kubelet.admit(pod_of("v", 1))
    assert [pod.uid for pod in kubelet.roster.active()] == ["u"]


def test_a_stopped_plugin_is_not_called(kubelet: DeviceManager, serve: Serve) -> None:
    """Up to 1.36 the old one can still send lists then, and its devices look healthy."""
    old = serve(healthy("a"), name="old.sock")
    lose(kubelet, serve(healthy("a"), name="new.sock"))
    send(kubelet, old, healthy("a"))
    assert view_after_tick(kubelet) == (1, 1)
    assert refused(kubelet, pod_of("u", 1)).endswith("has been stopped")
    assert not kubelet.journal.calls("Allocate")


class TestPreference:
    """GetPreferredAllocation: when it is asked, and what its answer is worth."""

    def serve_with(
        self, serve: Serve, prefer: Callable[[PreferredAllocationRequest], list[str] | str | None]
    ) -> None:
        """Let a plugin with four devices and this preference be known."""
        serve(healthy("a", "b", "c", "d"), script=Script(options=PREFERS, prefer=prefer))

    def test_it_is_asked_only_where_the_options_say_so(
        self, kubelet: DeviceManager, serve: Serve
    ) -> None:
        """A plugin without the option has no say."""
        serve(healthy("a"), script=Script(prefer=lambda _: "not to be asked"))
        assert kubelet.admit(pod_of("u", 1)) is None
        assert not kubelet.journal.calls("GetPreferredAllocation")

    @pytest.mark.parametrize("count", [1, 3, 4])
    def test_it_is_asked_with_all_free_devices(
        self, kubelet: DeviceManager, serve: Serve, count: int
    ) -> None:
        """Even where all of them are needed anyway; nothing must be included then."""
        self.serve_with(serve, lambda _: None)
        kubelet.admit(pod_of("u", count))
        (call,) = kubelet.journal.calls("GetPreferredAllocation")
        assert isinstance(call.request, PreferredAllocationRequest)
        (request,) = call.request.container_requests
        assert sorted(request.available_deviceIDs) == ["a", "b", "c", "d"]
        assert list(request.must_include_deviceIDs) == []
        assert request.allocation_size == count

    @pytest.mark.parametrize(
        ("preferred", "certain", "possible"),
        [
            pytest.param(["d", "b"], {"b", "d"}, {"b", "d"}, id="followed"),
            pytest.param(["d", "bogus"], {"d"}, {"a", "b", "c", "d"}, id="unknown left out"),
            pytest.param(["d"], {"d"}, {"a", "b", "c", "d"}, id="too few topped up"),
            pytest.param(["b", "c", "d"], set(), {"b", "c", "d"}, id="too many cut"),
            pytest.param([], set(), {"a", "b", "c", "d"}, id="empty"),
            pytest.param(None, set(), {"a", "b", "c", "d"}, id="no answer"),
        ],
    )
    def test_an_answer_is_followed_as_far_as_it_goes(
        self,
        kubelet: DeviceManager,
        serve: Serve,
        preferred: list[str] | None,
        certain: set[str],
        possible: set[str],
    ) -> None:
        """It is a wish: what it lacks is made up for, and what it has too much is left."""
        self.serve_with(serve, lambda _: preferred)
        assert kubelet.admit(pod_of("u", 2)) is None
        given = devices_of(kubelet, "u")
        assert len(given) == 2
        assert certain <= given <= possible

    def test_an_error_fails_the_pod(self, kubelet: DeviceManager, serve: Serve) -> None:
        """One lost GPU may so keep every pod off the node (NVIDIA's #231)."""
        self.serve_with(serve, lambda _: "GPU is lost")
        assert refused(kubelet, pod_of("u", 1)) == (
            "device plugin GetPreferredAllocation rpc failed with err: "
            "rpc error: code = Unknown desc = GPU is lost"
        )
        assert not kubelet.journal.calls("Allocate")

    def test_lists_come_in_while_the_plugin_thinks(
        self, kubelet: DeviceManager, serve: Serve
    ) -> None:
        """The kubelet holds no lock over the call: a plugin may send, and be heard, meanwhile."""
        plugin = serve(healthy("a", "b"), script=Script(options=PREFERS))

        def prefer(_: PreferredAllocationRequest) -> list[str]:
            send(kubelet, plugin, healthy("a", "b", "c"))
            return ["a"]

        plugin.script.prefer = prefer
        assert kubelet.admit(pod_of("u", 1)) is None
        assert devices_of(kubelet, "u") == {"a"}
        assert view_after_tick(kubelet) == (3, 3)
