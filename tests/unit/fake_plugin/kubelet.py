"""What the plugin's tests ask of a kubelet, which is the lab's device manager."""

from pathlib import Path
from typing import Final

from lab.embedded.kubelet.client import PluginClient
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.waiting import wait_until

__all__ = [
    "CHANNEL_OPTIONS",
    "every_socket_is_new",
    "plugin_sockets",
    "sockets_told",
    "wait_for_devices",
    "wait_until",
]

CHANNEL_OPTIONS: Final = (("grpc.use_local_subchannel_pool", 1),)


def sockets_told(kubelet: DeviceManager) -> list[str]:
    """Return the socket of every Register so far, whatever became of it."""
    return [call.socket for call in kubelet.journal.calls("Register")]


def wait_for_devices(
    kubelet: DeviceManager, resource: str, count: int, seconds: float = 10.0
) -> PluginClient:
    """Wait until the newest registration of a resource stands, with `count` healthy devices."""

    def newest() -> PluginClient | None:
        found = [client for client in kubelet.registrations if client.resource == resource]
        return found[-1] if found else None

    def stands() -> bool:
        client = newest()
        if kubelet.known.allocatable.get(resource) != count:
            return False
        if client is None or client.ended.is_set() or client.devices is None:
            return False
        return sum(each.is_healthy for each in client.devices.values()) == count

    wait_until(f"{count} healthy {resource}", stands, seconds)
    client = newest()
    assert client
    return client


def plugin_sockets(folder: Path) -> list[str]:
    """Return the names of the plugins' sockets."""
    return sorted(path.name for path in folder.glob("gpulab-*"))


def every_socket_is_new(kubelet: DeviceManager) -> bool:
    """Tell whether no socket was registered twice, which wedges a kubelet of version 1.37."""
    told = sockets_told(kubelet)
    return len(set(told)) == len(told)
