"""A kubelet's pod-resources socket, over gRPC, in this process."""

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

import grpc

from fake_plugin.api.podresources_pb2 import ListPodResourcesRequest, ListPodResourcesResponse
from fake_plugin.api.podresources_pb2_grpc import (
    PodResourcesListerServicer,
    add_PodResourcesListerServicer_to_server,
)
from fake_plugin.serving.listener import target

#: By pod, container and resource: the devices.
Pods: TypeAlias = Mapping[tuple[str, str], Mapping[str, Mapping[str, list[str]]]]


class Lister(PodResourcesListerServicer):
    """Says what `pods` has: namespace and name of a pod, its containers, resources, devices.

    As the kubelet does, one entry per device. With `refuses` it limits the rate of calls.
    """

    def __init__(self, socket: Path) -> None:
        self.pods: Pods = {}
        self.calls = 0
        self.refuses = False
        #: A call does not return while this is so, and `stop` was not called.
        self.hangs = False
        self._stopped = threading.Event()
        self._workers = ThreadPoolExecutor(4)
        self._server = grpc.server(self._workers)
        add_PodResourcesListerServicer_to_server(self, self._server)
        self._server.add_insecure_port(target(socket))
        self._server.start()

    def stop(self) -> None:
        """End, and let calls that hang go on."""
        self._stopped.set()
        self._server.stop(None).wait()
        self._workers.shutdown()

    def List(  # noqa: N802 - the name is that of the API
        self, request: ListPodResourcesRequest, context: grpc.ServicerContext
    ) -> ListPodResourcesResponse:
        """Answer with all pods."""
        del request
        self.calls += 1
        if self.refuses:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "rejected by rate limit")
        if self.hangs:
            self._stopped.wait()
        return self._response()

    def _response(self) -> ListPodResourcesResponse:
        response = ListPodResourcesResponse()
        for (namespace, name), containers in self.pods.items():
            pod = response.pod_resources.add(namespace=namespace, name=name)
            for container, resources in containers.items():
                entry = pod.containers.add(name=container)
                for resource, devices in resources.items():
                    for device in devices:
                        entry.devices.add(resource_name=resource, device_ids=[device])
        return response
