"""A resource is registered, with a kubelet that is there or comes, and refuses or hangs."""

import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from fake_plugin.plan import Share
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.fake_plugin.conftest import RESOURCE, TIMING, Said, StartPlugin
from tests.unit.fake_plugin.kubelet import (
    every_socket_is_new,
    plugin_sockets,
    sockets_told,
    wait_for_devices,
    wait_until,
)


def test_plugin_registers_and_lists_its_devices(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """The kubelet learns version, name and socket, and gets the whole list at once."""
    start_plugin()
    connection = wait_for_devices(kubelet, RESOURCE, 2)
    request = connection.request
    assert (request.version, request.resource_name) == ("v1beta1", RESOURCE)
    assert plugin_sockets(kubelet.folder) == [request.endpoint]
    assert connection.options.get_preferred_allocation_available


def test_resources_of_a_node_are_registered_apart(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """Each resource has its socket and its devices."""
    start_plugin(Share("a", "a-0", 1, resource="a.com/x"), Share("b", "b-0", 3, resource="b.com/x"))
    first = wait_for_devices(kubelet, "a.com/x", 1)
    second = wait_for_devices(kubelet, "b.com/x", 3)
    assert plugin_sockets(kubelet.folder) == sorted(
        [first.request.endpoint, second.request.endpoint]
    )


def test_plugin_waits_for_a_kubelet(folder: Path, start_plugin: StartPlugin, said: Said) -> None:
    """A plugin that is first says once that it waits, and registers as soon as it can."""
    start_plugin()
    wait_until("a word about waiting", lambda: bool(said("waiting-for-kubelet")))
    assert plugin_sockets(folder) == []
    kubelet = DeviceManager(folder)
    kubelet.start()
    wait_for_devices(kubelet, RESOURCE, 2)
    kubelet.stop()
    assert said("waiting-for-kubelet")[0]["reason"] == "kubelet.sock is not there"


def test_a_stale_kubelet_socket_is_not_called(
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said
) -> None:
    """After a crash of the kubelet its socket is there, and nobody answers until it is back."""
    kubelet.stop()
    kubelet.socket.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as crashed:
        crashed.bind(str(kubelet.socket))
    start_plugin()
    wait_until("a word about waiting", lambda: bool(said("waiting-for-kubelet")))
    kubelet.start()
    wait_for_devices(kubelet, RESOURCE, 2)
    assert said("waiting-for-kubelet")[0]["reason"] == "nobody listens on kubelet.sock"
    assert len(sockets_told(kubelet)) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('the ResourceName "gpu" is invalid', 'the ResourceName "gpu" is invalid (UNKNOWN)'),
        (
            "device plugin already connected: {}",
            "device plugin already connected: <socket> (UNKNOWN)",
        ),
    ],
)
def test_refusal_is_reported_in_the_kubelets_words(
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said, text: str, words: str
) -> None:
    """What the kubelet says is logged once, while the plugin tries on with new sockets."""
    kubelet.misbehaviour.refuses = text
    start_plugin()
    wait_until("three attempts", lambda: len(sockets_told(kubelet)) >= 3)
    kubelet.misbehaviour.refuses = ""
    last = wait_for_devices(kubelet, RESOURCE, 2)
    assert [facts["reason"] for facts in said("refused")] == [words]
    assert every_socket_is_new(kubelet)
    assert plugin_sockets(kubelet.folder) == [last.request.endpoint]


def test_a_register_without_answer_is_tried_on_a_new_socket(
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said
) -> None:
    """Nobody knows whether the kubelet took the first socket: it is closed and given up."""
    kubelet.misbehaviour.released = threading.Event()
    start_plugin(timing=replace(TIMING, register=0.2))
    wait_until("a second attempt", lambda: len(sockets_told(kubelet)) >= 2)
    kubelet.misbehaviour.released.set()
    last = wait_for_devices(kubelet, RESOURCE, 2)
    assert "DEADLINE_EXCEEDED" in str(said("refused")[0]["reason"])
    assert every_socket_is_new(kubelet)
    assert plugin_sockets(kubelet.folder) == [last.request.endpoint]


def test_a_kubelet_that_ends_within_register_is_waited_for(
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said
) -> None:
    """A connection that breaks is no refusal: a kubelet that restarts is no error."""
    kubelet.misbehaviour.released = threading.Event()
    start_plugin()
    wait_until("a Register", lambda: bool(sockets_told(kubelet)))
    kubelet.restart()
    wait_for_devices(kubelet, RESOURCE, 2)
    assert said("waiting-for-kubelet")
    assert said("refused") == []


def test_kubelet_replaced_during_register_is_noticed(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """A new kubelet is not kept waiting for the answer of the old one."""
    kubelet.misbehaviour.released = threading.Event()
    start_plugin()
    wait_until("a Register", lambda: bool(sockets_told(kubelet)))
    successor = DeviceManager(kubelet.folder)
    successor.start()
    wait_for_devices(successor, RESOURCE, 2)
    kubelet.misbehaviour.released.set()
    successor.stop()


def test_a_kubelet_that_never_watches_is_told_again(
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said
) -> None:
    """An accepted registration without a stream shows no device: it is not left at that."""
    kubelet.misbehaviour.never_watches = True
    start_plugin()
    wait_until("a second Register", lambda: len(kubelet.registrations) == 2)
    kubelet.misbehaviour.never_watches = False
    wait_for_devices(kubelet, RESOURCE, 2)
    assert "never asked for its devices" in str(said("registration-lost")[0]["reason"])
    assert every_socket_is_new(kubelet)


def test_a_plugin_stops_while_the_kubelet_does_not_answer(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """A call that hangs does not hold up the end."""
    kubelet.misbehaviour.released = threading.Event()
    plugin = start_plugin()
    wait_until("a Register", lambda: bool(sockets_told(kubelet)))
    plugin.stop()
    kubelet.misbehaviour.released.set()
    assert plugin_sockets(kubelet.folder) == []
