"""Register, as the kubelet answers it, and the account of who is registered.

The order of the checks and their texts are those of plugin/v1beta1/server.go and handler.go. Every
refusal has the status UNKNOWN, as any error of a Go program that is not a status itself.
"""

import threading
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

import grpc

from fake_plugin.api.deviceplugin_pb2 import Empty, RegisterRequest
from fake_plugin.api.deviceplugin_pb2_grpc import RegistrationServicer
from fake_plugin.resources.naming import broken_rule
from lab.embedded.kubelet.client import PluginClient
from lab.embedded.kubelet.connection import PluginError
from lab.embedded.kubelet.go_text import quoted
from lab.embedded.kubelet.ledger import Ledger
from lab.embedded.kubelet.node import Node

VERSION: Final = "v1beta1"

T = TypeVar("T")


class Clients(Protocol):
    """Who is registered; both kinds mix up what they do not tell apart."""

    def add(self, client: PluginClient) -> None:
        """Count a client in, before it is connected."""

    def drop(self, client: PluginClient) -> None:
        """Count out whatever is known under the name of this client."""

    def find(self, client: PluginClient) -> PluginClient | None:
        """Return whatever is known under the name of this client, or None."""


class ClientsByResource:
    """Up to 1.36: one per resource, the last that came."""

    def __init__(self) -> None:
        self._clients: dict[str, PluginClient] = {}

    def add(self, client: PluginClient) -> None:
        """Count it in, in the place of any other of its resource."""
        self._clients[client.resource] = client

    def drop(self, client: PluginClient) -> None:
        """Count out the one of its resource."""
        self._clients.pop(client.resource, None)

    def find(self, client: PluginClient) -> PluginClient | None:
        """Return the one of its resource."""
        return self._clients.get(client.resource)


class ClientsBySocket:
    """From 1.37 on: any number per resource, by their sockets."""

    def __init__(self) -> None:
        self._clients: list[PluginClient] = []

    def add(self, client: PluginClient) -> None:
        """Count it in beside the others, even those on its socket."""
        self._clients.append(client)

    def drop(self, client: PluginClient) -> None:
        """Count out all of its resource that have its socket."""
        self._clients = [each for each in self._clients if not _is_alike(each, client)]

    def find(self, client: PluginClient) -> PluginClient | None:
        """Return the oldest of its resource that has its socket."""
        return next((each for each in self._clients if _is_alike(each, client)), None)


def _is_alike(one: PluginClient, other: PluginClient) -> bool:
    return (one.resource, one.path) == (other.resource, other.path)


class Registration(RegistrationServicer):
    """Answers Register during one run of the kubelet, until `close`."""

    def __init__(self, node: Node, ledger: Ledger, accepted: list[PluginClient]) -> None:
        """Add to `accepted` every plugin that is."""
        self._accepted = accepted
        self._node = node
        self._ledger = ledger
        self._clients: Clients = (
            ClientsBySocket() if node.settings.profile.keeps_plugins_apart else ClientsByResource()
        )
        self._journal = node.journal
        self._misbehaviour = node.misbehaviour
        self._lock = threading.Lock()
        self._watches: list[threading.Thread] = []
        self._mine: list[PluginClient] = []
        self._closed = False

    def Register(  # noqa: N802 - the name is that of the API
        self, request: RegisterRequest, context: grpc.ServicerContext
    ) -> Empty:
        """Register a plugin, which has to be listening already."""
        call = self._journal.begin("Register", request.resource_name, request.endpoint, request)
        try:
            self._misbehave(request, context)
            self._check(request)
            self._connect(request, context)
        except PluginError as problem:
            self._journal.end(call, str(problem))
            context.abort(grpc.StatusCode.UNKNOWN, str(problem))
        self._journal.answered(call, Empty())
        self._journal.end(call)
        return Empty()

    def close(self) -> None:
        """End every connection, as the end of the process does, and wait for the streams."""
        with self._lock:
            self._closed = True
        for client in self._mine:
            client.close()
        for watch in self._watches:
            watch.join()

    def _misbehave(self, request: RegisterRequest, context: grpc.ServicerContext) -> None:
        behaviour = self._misbehaviour
        behaviour.on_register()
        if behaviour.released:
            behaviour.released.wait()
        if not context.is_active():
            raise PluginError("nobody is told any more")
        if behaviour.refuses:
            raise PluginError(behaviour.refuses.format(request.endpoint))

    def _check(self, request: RegisterRequest) -> None:
        if request.version != VERSION:
            raise PluginError(
                f"requested API version {quoted(request.version)} is not supported by kubelet. "
                f'Supported version is ["{VERSION}"]'
            )
        if broken_rule(request.resource_name):
            raise PluginError(f"the ResourceName {quoted(request.resource_name)} is invalid")

    def _connect(self, request: RegisterRequest, context: grpc.ServicerContext) -> None:
        client = PluginClient(request, self._node, self._ledger)
        self._with_clients(self._clients.add, client)
        try:
            client.connect(context)
        except PluginError:
            self._with_clients(self._clients.drop, client)
            raise
        with self._lock:
            self._accepted.append(client)
            self._mine.append(client)
            if self._closed:
                client.close()
            elif not self._misbehaviour.never_watches:
                watch = threading.Thread(target=self._watch, args=(client,), name="plugin")
                self._watches.append(watch)
                watch.start()

    def _watch(self, client: PluginClient) -> None:
        client.watch()
        # Whose end it is, is looked up by name: up to 1.36 that may be another's (#121994).
        known = self._with_clients(self._clients.find, client)
        if known:
            self._with_clients(self._clients.drop, known)
            known.disconnect()
        client.ended.set()

    def _with_clients(self, act: Callable[[PluginClient], T], client: PluginClient) -> T:
        with self._lock:
            return act(client)
