"""One attempt to have the kubelet take a resource on: a call of Register, from fault to answer.

Each has a listener, and so a socket, of its own, which is opened once a fault lets it: a call that
is held has none.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import grpc

from fake_plugin import events
from fake_plugin.api.deviceplugin_pb2 import RegisterRequest
from fake_plugin.api.deviceplugin_pb2_grpc import RegistrationStub
from fake_plugin.faults.fault import Delay, Fail, Fault, Hang
from fake_plugin.log import Event, say
from fake_plugin.resources.resource import Resource
from fake_plugin.serving.interceptor import Switchboard
from fake_plugin.serving.journal import Record
from fake_plugin.serving.listener import Listener, target
from fake_plugin.serving.service import options_of
from fake_plugin.serving.sockets import SocketNames
from fake_plugin.serving.timing import Timing

VERSION: Final = "v1beta1"
#: What a kubelet refuses in its own words, where a fault wants it to.
_REFUSED_VERSION: Final = "v0-by-a-fault"
_BROKEN: Final = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED})
_CHANNEL_OPTIONS: Final = (
    # Without it, a new channel waits as long as an older one to the same path would.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
)


@dataclass(frozen=True)
class Failure:
    """Why the kubelet did not take a resource on, and the faults by which it may not have."""

    event: Event
    reason: str
    to_blame: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Attempt:
    """What it takes to register; `is_past` tells that there is nobody any more to register with.

    `wake` is set where it may be past, and by `look`, which is called when something has happened.
    """

    resource: Resource
    names: SocketNames
    switchboard: Switchboard
    timing: Timing
    is_past: Callable[[], bool]
    wake: threading.Event
    look: Callable[[], None]

    def make(self) -> Listener | Failure | None:
        """Return the listener that the kubelet has taken on, or why there is none.

        None where a fault held the call for as long as there was somebody to register with.
        """
        fault = self.switchboard.book.meet("Register", self.resource.name)
        request = self._request(fault)
        record = Record("Register", self.resource.name, request)
        record.fault = fault.id if fault else ""
        # A call that a fault holds has begun, though it may never be sent.
        record.code = grpc.StatusCode.CANCELLED.name
        with self.switchboard.journal.recording(record):
            if fault and not self._waits_out(fault):
                return None
            listener = self._listener()
            if isinstance(listener, Failure):
                return listener
            request.endpoint = listener.path.name
            failure = self._register(request, record)
        if failure is None:
            return listener
        listener.close()
        # The name is a new one each time, and would make each refusal look like news.
        reason = failure.reason.replace(listener.path.name, "<socket>")
        return replace(failure, reason=reason, to_blame=listener.to_blame | _refused_by(fault))

    def _request(self, fault: Fault | None) -> RegisterRequest:
        """Return what the kubelet is to be told, but for the socket, which there is not yet."""
        return RegisterRequest(
            version=_REFUSED_VERSION if _refused_by(fault) else VERSION,
            resource_name=self.resource.name,
            options=options_of(self.resource),
        )

    def _waits_out(self, fault: Fault) -> bool:
        """Come late, or never, where a fault says so; tell whether to register still."""
        seconds = fault.effect.seconds if isinstance(fault.effect, Delay) else None
        if isinstance(fault.effect, Delay | Hang):
            say(events.REGISTER_HELD, resource=self.resource.name, fault=fault.id)
            self.switchboard.book.wait_out(fault, self.is_past, seconds)
        return not self.is_past()

    def _listener(self) -> Listener | Failure:
        try:
            listener = Listener(self.resource, self.names, self.switchboard, self.look)
        except OSError as problem:
            return Failure(events.CANNOT_LISTEN, str(problem))
        say(events.REGISTERING, resource=self.resource.name, socket=listener.path.name)
        return listener

    def _register(self, request: RegisterRequest, record: Record) -> Failure | None:
        """Tell the kubelet; return why it did not accept, None where it did."""
        address = target(self.names.kubelet)
        with grpc.insecure_channel(address, options=_CHANNEL_OPTIONS) as channel:
            call = RegistrationStub(channel).Register.future(request, self.timing.register)
            call.add_done_callback(lambda _: self.look())
            while not call.done():
                self.wake.clear()
                if self.is_past():
                    call.cancel()
                    return Failure(events.WAITING, "the kubelet ended before it answered")
                if not call.done():
                    self.wake.wait(self.timing.look)
            record.code = call.code().name
            return _failure_of(call)


def _refused_by(fault: Fault | None) -> frozenset[str]:
    """Return the ID of a fault that has the kubelet refuse; one that holds a call back does not."""
    return frozenset([fault.id] if fault and isinstance(fault.effect, Fail) else [])


def _failure_of(call: grpc.Call) -> Failure | None:
    code = call.code()
    if code is grpc.StatusCode.OK:
        return None
    # What the kubelet itself says has other codes: this is a connection that broke.
    event = events.WAITING if code in _BROKEN else events.REFUSED
    return Failure(event, f"{call.details()} ({code.name})")
