"""A resource is registered, and stays so over everything that may happen to the sockets."""

from pathlib import Path

import pytest

from tests.unit.fake_plugin.conftest import RESOURCE, Said, StartPlugin
from tests.unit.fake_plugin.kubelet import Kubelet, wait_until


def sockets(folder: Path) -> list[str]:
    """Return the names of the plugins' sockets."""
    return sorted(path.name for path in folder.glob("gpulab-*"))


def test_plugin_registers_and_lists_its_devices(
    kubelet: Kubelet, start_plugin: StartPlugin
) -> None:
    """The kubelet learns version, name and socket, and gets the whole list at once."""
    start_plugin()
    connection = kubelet.wait_for_devices(RESOURCE, 2)
    request = connection.request
    assert (request.version, request.resource_name) == ("v1beta1", RESOURCE)
    assert sockets(kubelet.folder) == [request.endpoint]
    assert connection.options.get_preferred_allocation_available


def test_kubelet_restart_is_survived(kubelet: Kubelet, start_plugin: StartPlugin) -> None:
    """A kubelet that starts removes all sockets: the plugin comes back on a fresh one."""
    start_plugin()
    first = kubelet.wait_for_devices(RESOURCE, 2)
    kubelet.restart()
    second = kubelet.wait_for_devices(RESOURCE, 2, seconds=1)
    assert second.request.endpoint != first.request.endpoint
    assert second.lists == first.lists


def test_unrelated_files_cause_nothing(
    kubelet: Kubelet, start_plugin: StartPlugin, said: Said
) -> None:
    """Files that are neither the kubelet's nor the plugin's do not disturb a registration."""
    plugin = start_plugin()
    kubelet.wait_for_devices(RESOURCE, 2)
    (kubelet.folder / "kubelet_internal_checkpoint").write_text("{}")
    (kubelet.folder / "other.sock").touch()
    plugin.look()
    plugin.stop()
    assert len(kubelet.requests) == 1
    assert not said("registration-lost")


@pytest.mark.parametrize("text", ['the ResourceName "gpu" is invalid', "failed to dial"])
def test_refusal_is_reported_in_the_kubelets_words(
    kubelet: Kubelet, start_plugin: StartPlugin, said: Said, text: str
) -> None:
    """What the kubelet says is logged once, while the plugin tries on with new sockets."""
    kubelet.behaviour.refuses = text
    start_plugin()
    wait_until("three attempts", lambda: len(kubelet.requests) >= 3)
    kubelet.behaviour.refuses = ""
    kubelet.wait_for_devices(RESOURCE, 2)
    assert [facts["reason"] for facts in said("refused")] == [f"{text} (UNKNOWN)"]
    endpoints = [request.endpoint for request in kubelet.requests]
    assert len(set(endpoints)) == len(endpoints)
    assert sockets(kubelet.folder) == endpoints[-1:]
