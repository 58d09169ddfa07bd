"""The plugins that both kubelets get: each side has its own, which behave alike."""

import threading
from collections.abc import Iterator
from pathlib import Path

import grpc

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    AllocateResponse,
    ContainerAllocateResponse,
    Device,
    DevicePluginOptions,
    DeviceSpec,
    Empty,
    ListAndWatchResponse,
    Mount,
    NUMANode,
    PreferredAllocationRequest,
    PreStartContainerRequest,
    TopologyInfo,
)
from tests.oracle.script import Step
from tests.unit.embedded.plugin import Script, ScriptedPlugin


class Plugin(ScriptedPlugin):
    """Behaves as its mode says, and takes down what it is asked in a form to compare."""

    def __init__(self, folder: Path, step: Step) -> None:
        super().__init__(folder, f"{step.number}.sock")
        self.resource = step.resource
        self.mode = step.mode
        self.calls: list[str] = []
        self.newest: list[Device] = []
        self._streams = 0
        self._counting = threading.Lock()
        self.script = Script(
            options=DevicePluginOptions(
                get_preferred_allocation_available=step.mode != "plain",
                pre_start_required=step.mode.startswith("pre-start"),
            ),
            allocate=self._allocate,
            prefer=self._prefer,
            pre_start=self._pre_start,
        )

    @property
    def streams(self) -> int:
        """Return how many kubelets watch it, or one how often."""
        with self._counting:
            return self._streams

    def send(self, step: Step) -> None:
        """Send the list of a step."""
        self.newest = [_device(self.resource, *each) for each in step.devices]
        self.list(self.newest)

    def ListAndWatch(  # noqa: N802 - the name is that of the API
        self, request: Empty, context: grpc.ServicerContext
    ) -> Iterator[ListAndWatchResponse]:
        """Count it for as long as it lasts."""
        with self._counting:
            self._streams += 1
        try:
            yield from super().ListAndWatch(request, context)
        finally:
            with self._counting:
                self._streams -= 1

    def _allocate(self, request: AllocateRequest) -> AllocateResponse | str:
        ids = sorted(request.container_requests[0].devices_ids)
        self.calls.append(f"Allocate {len(request.container_requests)} {ids}")
        if self.mode == "refuses":
            return f"{self.resource} is busy"
        if self.mode == "answers-nothing":
            return AllocateResponse()
        return AllocateResponse(container_responses=[_answer(self.resource, ids)])

    def _prefer(self, request: PreferredAllocationRequest) -> list[str] | str:
        wanted = request.container_requests[0]
        available, must = sorted(wanted.available_deviceIDs), sorted(wanted.must_include_deviceIDs)
        self.calls.append(f"GetPreferredAllocation {available} {must} {wanted.allocation_size}")
        if self.mode == "preference-fails":
            return f"{self.resource} is lost"
        if self.mode == "prefers-others":
            return [*available[-1:], "made-up"]
        return [*must, *(each for each in available if each not in must)][: wanted.allocation_size]

    def _pre_start(self, request: PreStartContainerRequest) -> str:
        self.calls.append(f"PreStartContainer {sorted(request.devices_ids)}")
        return f"{self.resource} cannot" if self.mode == "pre-start-fails" else ""


def _device(resource: str, name: str, health: str, numa: list[int] | None) -> Device:
    topology = None
    if numa is not None:
        topology = TopologyInfo(nodes=[NUMANode(ID=each) for each in numa])
    return Device(ID=f"{resource[0]}-{name}", health=health, topology=topology)


def _answer(resource: str, ids: list[str]) -> ContainerAllocateResponse:
    short = resource[0]
    answer = ContainerAllocateResponse(
        envs={f"DEVICES_{short}": ",".join(ids)},
        annotations={f"{short}.com/ids": "-".join(ids)},
        devices=[
            DeviceSpec(host_path="/dev/null", container_path=f"/dev/{each}", permissions="rw")
            for each in ids
        ],
        mounts=[Mount(host_path="/tmp", container_path=f"/{short}", read_only=True)],  # noqa: S108 - a name, never opened
    )
    for each in ids:
        answer.cdi_devices.add(name=f"{resource}={each}")
    return answer
