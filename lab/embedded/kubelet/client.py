"""One registration of a plugin: the connection that Register led to, and the stream on it."""

import os
import threading
from pathlib import Path

import grpc

from fake_plugin.api.deviceplugin_pb2 import DevicePluginOptions, Empty, RegisterRequest
from lab.embedded.kubelet.connection import Connection, PluginError
from lab.embedded.kubelet.device import Device, read_devices
from lab.embedded.kubelet.ledger import Ledger
from lab.embedded.kubelet.node import Node


class PluginClient:
    """Connects to a plugin and watches it until either side ends (plugin/v1beta1/client.go).

    What it was told stays readable after the end.
    """

    def __init__(self, request: RegisterRequest, node: Node, ledger: Ledger) -> None:
        self.request = request
        # As upstream's filepath.Join: "../x.sock" leads out of the folder, "" to the folder itself,
        # and "/x.sock" to a file in it.
        self.path = Path(os.path.normpath(f"{node.folder}/{request.endpoint}"))
        self.options = DevicePluginOptions()
        #: The newest list, by ID; None before the first.
        self.devices: dict[str, Device] | None = None
        self.lists = 0
        #: The stream has ended, and the kubelet has drawn its conclusions.
        self.ended = threading.Event()
        self._ledger = ledger
        self._connection = Connection(request.resource_name, self.path, node.journal, node.clock)

    @property
    def resource(self) -> str:
        """Return the resource that the plugin serves."""
        return self.request.resource_name

    def connect(self, context: grpc.ServicerContext) -> None:
        """Dial, ask for the options, and take the plugin over; raise `PluginError`.

        All within the call of Register that is in `context`.
        """
        connection = self._connection
        connection.dial(context)
        ask = connection.plugin.GetDevicePluginOptions
        try:
            self.options = connection.call("GetDevicePluginOptions", ask, Empty(), context=context)
        except PluginError as problem:
            connection.close()
            raise PluginError(f"failed to get device plugin options: {problem}") from problem
        self._ledger.connected(connection, self.options)

    def watch(self) -> None:
        """Take in lists until the stream ends."""
        for message in self._connection.lists():
            devices = read_devices(message.devices)
            self._ledger.listed(self.resource, devices)
            self.devices = {each.id: each for each in devices}
            self.lists += 1

    def disconnect(self) -> None:
        """End the connection, and take down that the plugin went away."""
        self.close()
        self._ledger.disconnected(self.resource, self.path)

    def close(self) -> None:
        """End the connection, as the end of the whole kubelet does."""
        self._connection.close()
