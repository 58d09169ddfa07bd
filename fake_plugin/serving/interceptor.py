"""Stands between the kubelet and a resource's service: calls go wrong here, and are written down.

The service answers rightly, always; what a rule of the book says is done to the call or its answer
around it. A call that a rule holds keeps a thread of its server busy, so no more than `MOST_HELD`
are held: one more fails at once, and the others are served.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias, TypeVar, cast, get_args

import grpc
from google.protobuf.message import Message

from fake_plugin.faults.book import FaultBook
from fake_plugin.faults.fault import Call, Delay, Drop, Fail, Fault, Hang, Wrong
from fake_plugin.faults.wrong import spoiled
from fake_plugin.serving.journal import Journal, Record
from fake_plugin.serving.streams import Streams

#: The kubelet allocates for one pod at a time, and asks for little else meanwhile.
MOST_HELD: Final = 16
#: By these the kubelet takes a resource on, and drops it where they fail.
_TAKING_ON: Final = frozenset({"GetDevicePluginOptions", "ListAndWatch"})
_CALLS: Final[dict[str, Call]] = {each: each for each in get_args(Call)}

_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")
Handler: TypeAlias = "grpc.RpcMethodHandler[_Request, _Answer]"
Unary: TypeAlias = Callable[[Message, grpc.ServicerContext], Message]
Stream: TypeAlias = Callable[[Message, grpc.ServicerContext], Iterator[Message]]


@dataclass(frozen=True)
class Switchboard:
    """What all calls of a node go through, of whatever resource and in either direction."""

    book: FaultBook = field(default_factory=FaultBook)
    journal: Journal = field(default_factory=Journal)


class Interceptor(grpc.ServerInterceptor):
    """Applies the book to the calls of one resource's server, and keeps the journal of them."""

    def __init__(self, resource: str, streams: Streams, switchboard: Switchboard) -> None:
        self._resource = resource
        self._streams = streams
        self._book = switchboard.book
        self._journal = switchboard.journal
        self._places = threading.BoundedSemaphore(MOST_HELD)
        #: The rules that can have cost the resource its registration.
        self.to_blame: set[str] = set()

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], "Handler[_Request, _Answer] | None"],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "Handler[_Request, _Answer] | None":
        """Return the service's own handler with the book around it."""
        handler = continuation(handler_call_details)
        call = _CALLS.get(handler_call_details.method.rpartition("/")[2])
        if handler is None or call is None:
            return handler
        shapes = handler.request_deserializer, handler.response_serializer
        if handler.unary_stream:
            answers = partial(self._stream, call, cast("Stream", handler.unary_stream))
            return grpc.unary_stream_rpc_method_handler(answers, *shapes)
        answer = partial(self._unary, call, cast("Unary", handler.unary_unary))
        return grpc.unary_unary_rpc_method_handler(answer, *shapes)

    def _unary(
        self,
        call: Call,
        right: Unary,
        request: Message,
        context: grpc.ServicerContext,
    ) -> Message:
        with self._recording(Record(call, self._resource, request), context) as record:
            fault = self._meet(record, call)
            self._suffer(fault, context)
            record.answer = _answer(fault, right(request, context), request)
            return record.answer

    def _stream(
        self,
        call: Call,
        right: Stream,
        request: Message,
        context: grpc.ServicerContext,
    ) -> Iterator[Message]:
        with self._recording(Record(call, self._resource, request), context) as record:
            fault = self._meet(record, call)
            answers = right(request, context)
            self._suffer(fault, context)
            self._right_once_gone(fault)
            with self._dropping(fault, context):
                for each in answers:
                    answer = _answer(fault if self._holds(fault) else None, each, request)
                    yield answer
                    self._journal.sent(record, answer)

    def _meet(self, record: Record, call: Call) -> Fault | None:
        fault = self._book.meet(call, self._resource)
        if fault:
            record.fault = fault.id
            if call in _TAKING_ON:
                self.to_blame.add(fault.id)
        return fault

    def _suffer(self, fault: Fault | None, context: grpc.ServicerContext) -> None:
        """Do to a call what comes before its answer."""
        match fault:
            case Fault(effect=Fail(text, code)):
                context.abort(grpc.StatusCode[code], text)
            case Fault(effect=Delay(seconds)):
                self._hold(fault, context, seconds)
            case Fault(effect=Hang()):
                self._hold(fault, context, None)

    def _hold(self, fault: Fault, context: grpc.ServicerContext, seconds: float | None) -> None:
        if not self._places.acquire(blocking=False):
            text = f"{self._resource}: {MOST_HELD} calls are held by faults already"
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, text)
        try:
            over = self._streams.over(context)
            # Where the call has ended before, `over` holds already.
            context.add_callback(self._book.wake)
            self._book.wait_out(fault, over, seconds)
        finally:
            self._places.release()
        if over():
            context.abort(grpc.StatusCode.UNAVAILABLE, f"{self._resource}: the plugin is ending")

    @contextmanager
    def _dropping(self, fault: Fault | None, context: grpc.ServicerContext) -> Iterator[None]:
        """End the stream of a call at its time, where that is what the fault says."""
        match fault:
            case Fault(effect=Drop(seconds)) if seconds > 0:
                timer = threading.Timer(seconds, self._drop, (fault, context))
                timer.daemon = True
                timer.start()
                try:
                    yield
                finally:
                    timer.cancel()
            case Fault(effect=Drop()):
                self._streams.drop(context)
                yield
            case _:
                yield

    def _drop(self, fault: Fault, context: grpc.ServicerContext) -> None:
        if self._holds(fault):
            self._streams.drop(context)

    def _right_once_gone(self, fault: Fault | None) -> None:
        """Have a list that is wrong followed by the right one as soon as the fault is gone."""
        match fault:
            case Fault(effect=Wrong()):
                self._book.when_gone(fault, self._streams.resource.send_again)

    def _holds(self, fault: Fault | None) -> bool:
        return fault is not None and self._book.has_all([fault.id])

    @contextmanager
    def _recording(self, record: Record, context: grpc.ServicerContext) -> Iterator[Record]:
        with self._journal.recording(record):
            try:
                yield record
            except BaseException:
                code = context.code()  # type: ignore[attr-defined]  # not in the stubs
                record.code = code.name if code else "UNKNOWN"
                raise
            finally:
                if not context.is_active():
                    record.code = "CANCELLED"


def _answer(fault: Fault | None, right: Message, request: Message) -> Message:
    match fault:
        case Fault(effect=Wrong(kind)):
            return spoiled(right, kind, request)
        case _:
            return right
