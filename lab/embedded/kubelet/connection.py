"""The kubelet's connection to one plugin: dialled, called and watched, all of it in the journal."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote

import grpc
from google.protobuf.message import Message

from fake_plugin.api.deviceplugin_pb2 import Empty, ListAndWatchResponse
from fake_plugin.api.deviceplugin_pb2_grpc import DevicePluginStub
from lab.embedded.clock import Clock, alarm
from lab.embedded.kubelet.dial import answers_in_time
from lab.embedded.kubelet.go_text import CANCELED, DEADLINE_EXCEEDED, rpc_error
from lab.embedded.kubelet.journal import Journal

DIAL_SECONDS: Final = 10
_OPTIONS: Final = (
    # Without it, a new channel waits as long as an older one to the same path would.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.default_authority", "localhost"),
)

RequestT = TypeVar("RequestT", bound=Message)
AnswerT = TypeVar("AnswerT", bound=Message)


class PluginError(Exception):
    """A plugin could not be called, or said no; the text is the kubelet's own."""


class Connection:
    """A channel to the socket at `path`, for the resource that was registered with it."""

    def __init__(self, resource: str, path: Path, journal: Journal, clock: Clock) -> None:
        self.resource = resource
        self.path = path
        self._journal = journal
        self._clock = clock
        self._channel = grpc.insecure_channel(target(path), options=_OPTIONS)
        self._closed = False
        self.plugin = DevicePluginStub(self._channel)

    def dial(self, context: grpc.ServicerContext) -> None:
        """Wait until the plugin is connected, as long as the call in `context` goes on.

        Raises `PluginError` after ten seconds, or where that call ends before (plugin/v1beta1,
        client.go:dial).
        """
        over = threading.Event()
        with alarm(self._clock, DIAL_SECONDS, over.set):
            if not context.add_callback(over.set):
                over.set()
            connected = answers_in_time(self.path, over)
        if not connected:
            self.close()
            reason = DEADLINE_EXCEEDED if context.is_active() else CANCELED
            raise PluginError(f"failed to dial device plugin: {reason}")

    def call(
        self,
        name: str,
        method: "grpc.UnaryUnaryMultiCallable[RequestT, AnswerT]",
        request: RequestT,
        *,
        seconds: float | None = None,
        context: grpc.ServicerContext | None = None,
    ) -> AnswerT:
        """Make a call, for at most the seconds, or as long as the call in `context` goes on.

        Without either it lasts until the plugin answers or goes away. Raises `PluginError`.
        """
        call = self._journal.begin(name, self.resource, self.path.name, request)
        try:
            answer = self._answer(method, request, seconds, context)
        except PluginError as problem:
            self._journal.end(call, str(problem))
            raise
        self._journal.answered(call, answer)
        self._journal.end(call)
        return answer

    def lists(self) -> Iterator[ListAndWatchResponse]:
        """Watch the list of devices until the stream ends, for whatever reason."""
        call = self._journal.begin("ListAndWatch", self.resource, self.path.name, Empty())
        try:
            for message in self.plugin.ListAndWatch(Empty()):
                self._journal.answered(call, message)
                yield message
        except grpc.RpcError as problem:
            self._journal.end(call, self._words_of(problem))
        except ValueError:
            self._journal.end(call, self._closed_words())
        else:
            self._journal.end(call, "EOF")

    def close(self) -> None:
        """End the connection, and with it every call."""
        self._closed = True
        self._channel.close()

    def _answer(
        self,
        method: "grpc.UnaryUnaryMultiCallable[RequestT, AnswerT]",
        request: RequestT,
        seconds: float | None,
        context: grpc.ServicerContext | None,
    ) -> AnswerT:
        over = threading.Event()
        try:
            call = method.future(request)
        except ValueError as problem:
            raise PluginError(self._closed_words()) from problem
        call.add_done_callback(lambda _: over.set())
        if context and not context.add_callback(over.set):
            over.set()
        if seconds is None:
            over.wait()
        else:
            with alarm(self._clock, seconds, over.set):
                over.wait()
        if call.done():
            return self._result(call)
        call.cancel()
        given_up, words = (
            (grpc.StatusCode.CANCELLED, CANCELED)
            if context
            else (grpc.StatusCode.DEADLINE_EXCEEDED, DEADLINE_EXCEEDED)
        )
        raise PluginError(rpc_error(given_up, words, self.path))

    def _result(self, call: "grpc.Future[AnswerT]") -> AnswerT:
        try:
            return call.result()
        except grpc.RpcError as problem:
            raise PluginError(self._words_of(problem)) from problem
        except grpc.FutureCancelledError as problem:
            raise PluginError(self._closed_words()) from problem

    def _words_of(self, problem: grpc.RpcError) -> str:
        if not isinstance(problem, grpc.Call):
            return str(problem)
        return rpc_error(problem.code(), problem.details(), self.path)

    def _closed_words(self) -> str:
        return rpc_error(grpc.StatusCode.CANCELLED, "Channel closed!", self.path)


def target(path: Path) -> str:
    """Return the address of a socket as gRPC takes it, which reads a path as part of a URI."""
    return f"unix:{quote(str(path))}"
