"""What the kubelet knows of the plugin that serves a resource, and how it asks it for devices."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    AllocateResponse,
    ContainerAllocateRequest,
    ContainerPreferredAllocationRequest,
    DevicePluginOptions,
    PreferredAllocationRequest,
    PreferredAllocationResponse,
    PreStartContainerRequest,
)
from lab.embedded.clock import Clock
from lab.embedded.kubelet.connection import Connection, PluginError

#: After this, the devices of a plugin that went away are forgotten (devicemanager/types.go).
GRACE_SECONDS: Final = 5 * 60
#: The other calls have no limit: a plugin that hangs holds up the whole node (#117435, #129249).
PRE_START_SECONDS: Final = 30


class Endpoint:
    """Serves one resource until it is stopped; a restarted kubelet begins with a stopped one.

    `connection` and `options` are None where no plugin has registered since the restart.
    """

    def __init__(
        self,
        resource: str,
        clock: Clock,
        connection: Connection | None = None,
        options: DevicePluginOptions | None = None,
    ) -> None:
        self.resource = resource
        self.options = options or DevicePluginOptions()
        self._connection = connection
        self._clock = clock
        self._stopped_at = None if connection else clock.now()

    @property
    def path(self) -> Path | None:
        """Return where the plugin listens."""
        return self._connection.path if self._connection else None

    @property
    def is_expired(self) -> bool:
        """Whether the plugin went away more than the time of grace ago."""
        if self._stopped_at is None:
            return False
        return self._clock.now() - self._stopped_at > GRACE_SECONDS

    def stop(self) -> None:
        """Take down that the plugin went away just now."""
        self._stopped_at = self._clock.now()

    def preferred(
        self, available: Sequence[str], must_include: Sequence[str], size: int
    ) -> PreferredAllocationResponse:
        """Ask which devices the plugin would give; raise `PluginError`."""
        connection = self._live()
        request = PreferredAllocationRequest(
            container_requests=[
                ContainerPreferredAllocationRequest(
                    available_deviceIDs=available,
                    must_include_deviceIDs=must_include,
                    allocation_size=size,
                )
            ]
        )
        ask = connection.plugin.GetPreferredAllocation
        return connection.call("GetPreferredAllocation", ask, request)

    def allocate(self, devices: Sequence[str]) -> AllocateResponse:
        """Ask how one container gets the devices; raise `PluginError`."""
        connection = self._live()
        request = AllocateRequest(
            container_requests=[ContainerAllocateRequest(devices_ids=devices)]
        )
        return connection.call("Allocate", connection.plugin.Allocate, request)

    def pre_start(self, devices: Sequence[str]) -> None:
        """Announce the start of a container, for at most 30 seconds; raise `PluginError`."""
        connection = self._live()
        request = PreStartContainerRequest(devices_ids=devices)
        announce = connection.plugin.PreStartContainer
        connection.call("PreStartContainer", announce, request, seconds=PRE_START_SECONDS)

    def _live(self) -> Connection:
        if self._connection is None or self._stopped_at is not None:
            # The kubelet dumps the fields of a Go structure here, addresses among them.
            fields = f"{{}} {self.resource} {self.path or ''}"
            raise PluginError(f"endpoint &{{{fields}}} has been stopped")
        return self._connection
