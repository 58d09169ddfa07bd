"""Asks the kubelet which container holds which device.

The kubelet answers on a socket of its own, 100 times a second at most, whoever asks (Kubernetes,
pkg/kubelet/apis/podresources). One answer is kept for a second, whether it is one or none.
"""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc

from fake_plugin import events
from fake_plugin.api.podresources_pb2 import ListPodResourcesRequest, ListPodResourcesResponse
from fake_plugin.api.podresources_pb2_grpc import PodResourcesListerStub
from fake_plugin.hardware.reading import Holder
from fake_plugin.log import say
from fake_plugin.metrics.readings import Holders
from fake_plugin.serving.listener import target

_KEPT_SECONDS: Final = 1.0
_TIMEOUT_SECONDS: Final = 1.0
#: In bytes, as the kubelet's own client (pkg/kubelet/apis/podresources/constants.go).
_MESSAGE_LIMIT: Final = 16 * 1024 * 1024
#: A connection that others left behind may be waiting to try again.
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", _MESSAGE_LIMIT),
    ("grpc.use_local_subchannel_pool", 1),
)


@dataclass(frozen=True)
class Answer:
    """Who holds what; `problem` says why nobody is known to hold anything, "" where all is well."""

    holders: Holders
    problem: str = ""


class PodResources:
    """The kubelet's pod-resources socket. Safe to use from threads; never raises."""

    def __init__(self, socket: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._socket = socket
        self._clock = clock
        self._lock = threading.Lock()
        self._answer = Answer({})
        self._asked_at: float | None = None

    def answer(self) -> Answer:
        """Return who holds which device, as it was within the last second."""
        with self._lock:
            now = self._clock()
            if self._asked_at is None or now - self._asked_at >= _KEPT_SECONDS:
                before, self._answer = self._answer, self._ask()
                self._asked_at = now
                self._tell(before)
            return self._answer

    def _ask(self) -> Answer:
        try:
            with grpc.insecure_channel(target(self._socket), options=_OPTIONS) as channel:
                stub = PodResourcesListerStub(channel)
                found = stub.List(ListPodResourcesRequest(), timeout=_TIMEOUT_SECONDS)
        except grpc.RpcError as problem:
            code, text = (problem.code(), problem.details())
            return Answer({}, f"{code.name}: {text}")
        return Answer(dict(_holders(found)))

    def _tell(self, before: Answer) -> None:
        if self._answer.problem and not before.problem:
            say(events.HOLDERS_UNKNOWN, socket=str(self._socket), reason=self._answer.problem)


def _holders(found: ListPodResourcesResponse) -> Iterator[tuple[tuple[str, str], Holder]]:
    for pod in found.pod_resources:
        for container in pod.containers:
            holder = Holder(pod.namespace, pod.name, container.name)
            for devices in container.devices:
                for device_id in devices.device_ids:
                    yield (devices.resource_name, device_id), holder
