"""Says over gRPC whether every resource is registered: the check that a kubelet can make itself.

A pod's `readinessProbe: {grpc: {port: …}}` needs no program in the image and no shell. The
protocol, grpc.health.v1, is two messages with one field; their bytes are written out here.
The package grpcio-health-checking, measured, adds 4 to 8 ms to a start (250 are allowed) and
0.3 MiB of memory (of 50). That is little, but it is one more wheel to pin, fetch and keep in step
with grpcio, and it would still be told from here whether all of the resources are registered.
"""

import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import grpc

from fake_plugin.errors import NotReady

_SERVING: Final = b"\x08\x01"
_NOT_SERVING: Final = b"\x08\x02"


class Readiness:
    """Knows which resources the kubelet watches; ready when it watches all of them.

    A node without a resource is ready: there is nothing to wait for.
    """

    def __init__(self, resources: Iterable[str]) -> None:
        self._missing = set(resources)
        self._lock = threading.Lock()

    def set_ready(self, resource: str, *, ready: bool) -> None:
        """Take down that a resource is watched, or no longer."""
        with self._lock:
            change = self._missing.discard if ready else self._missing.add
            change(resource)

    def is_watched(self, resource: str) -> bool:
        """Whether the kubelet watches one resource."""
        return resource not in self._missing

    @property
    def missing(self) -> list[str]:
        """The resources that the kubelet does not watch, in the order of their names."""
        with self._lock:
            return sorted(self._missing)

    @property
    def is_ready(self) -> bool:
        """Whether the kubelet watches every resource."""
        return not self._missing


class ReadinessServer:
    """Answers the check on a TCP port; raises `NotReady` where the port cannot be had.

    `port` is the one that it listens on: where the address has port 0, the system chooses it.
    """

    def __init__(self, readiness: Readiness, address: str) -> None:
        self._readiness = readiness
        self._workers = ThreadPoolExecutor(1, thread_name_prefix="readiness")
        self._server = grpc.server(self._workers, options=(("grpc.so_reuseport", 0),))
        check: grpc.RpcMethodHandler[bytes, bytes]
        check = grpc.unary_unary_rpc_method_handler(self._check)
        handlers = grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": check})
        self._server.add_generic_rpc_handlers((handlers,))
        try:
            self.port = self._server.add_insecure_port(address)
        except RuntimeError as problem:
            self._workers.shutdown()
            raise NotReady(
                "the address of --health cannot be listened on",
                where=address,
                seen=str(problem),
                remedy="give one that is free and this machine's own",
            ) from problem
        self._server.start()

    def stop(self) -> None:
        """Close the port."""
        self._server.stop(None).wait()
        self._workers.shutdown()

    def _check(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        del request, context
        return _SERVING if self._readiness.is_ready else _NOT_SERVING
