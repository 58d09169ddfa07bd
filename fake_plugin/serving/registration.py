"""Keeps one resource registered with the kubelet, whatever happens to either side's socket.

    waiting ──kubelet.sock answers──▶ listening ──Register accepted──▶ registered
       ▲                                  │ refused, or no answer          │ lost
       └──────────────────────────────────┴────────────────────────────────┘

Nothing is concluded from an event: every pass looks at the sockets and the streams, and events
only make the next pass come at once. Each attempt has a listener, and so a socket, of its own.

One loss cannot be seen from here. Where a second plugin registers the same resource, a kubelet up
to 1.36 goes by the second alone, yet keeps the stream of the first open. When the second is killed,
the kubelet has no devices, and the first, whose socket and stream are as they were, does nothing:
it takes a restart of it or of the kubelet. One plugin per node and resource is the rule.
"""

import threading
import time
from dataclasses import dataclass
from typing import Final

import grpc

from fake_plugin import events
from fake_plugin.api.deviceplugin_pb2 import RegisterRequest
from fake_plugin.api.deviceplugin_pb2_grpc import RegistrationStub
from fake_plugin.faults.fault import Delay, Fail, Fault, Hang
from fake_plugin.files.inode import Inode
from fake_plugin.log import Event, Sparingly, milliseconds_since_start, say
from fake_plugin.resources.resource import Resource
from fake_plugin.serving.backoff import Backoff, Pace
from fake_plugin.serving.interceptor import Switchboard
from fake_plugin.serving.journal import Record
from fake_plugin.serving.listener import Listener, target
from fake_plugin.serving.readiness import Readiness
from fake_plugin.serving.service import options_of
from fake_plugin.serving.sockets import SocketNames, answers

VERSION: Final = "v1beta1"
#: What a kubelet refuses in its own words, where a fault wants it to.
_REFUSED_VERSION: Final = "v0-by-a-fault"
_UNREACHABLE: Final = Pace(0.05, 5.0)
_REFUSED: Final = Pace(1.0, 60.0)
_BROKEN: Final = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED})
_CHANNEL_OPTIONS: Final = (
    # Without it, a new channel waits as long as an older one to the same path would.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
)


@dataclass(frozen=True)
class Timing:
    """Seconds, for tests to shorten."""

    #: The kubelet gives itself 10 s to connect back, and then says what was wrong.
    register: float = 15.0
    #: After Register the kubelet opens ListAndWatch at once.
    first_stream: float = 10.0
    #: A registration that stood as long as this was a success.
    settled: float = 10.0
    #: For the kubelet to see the end of an old stream before it hears of a new socket.
    old_stream: float = 0.1
    #: Between two looks where no event comes.
    look: float = 5.0
    unreachable: Pace = _UNREACHABLE
    refused: Pace = _REFUSED
    #: Between two lines of the log that say the same.
    repeat: float = 300.0


@dataclass(frozen=True)
class _Standing:
    """An accepted registration: with which kubelet, by which listener, since when."""

    kubelet: Inode
    listener: Listener
    since: float

    @property
    def age(self) -> float:
        return time.monotonic() - self.since


@dataclass(frozen=True)
class _Failure:
    event: Event
    reason: str


class Registration:
    """Registers a resource and keeps it so, in `run`, until `stop`."""

    def __init__(
        self,
        resource: Resource,
        names: SocketNames,
        switchboard: Switchboard,
        timing: Timing,
        readiness: Readiness,
    ) -> None:
        self._resource = resource
        self._names = names
        self._switchboard = switchboard
        self._timing = timing
        self._readiness = readiness
        self._kubelet_socket = names.folder / "kubelet.sock"
        self._wake = threading.Event()
        self._stopping = False
        self._standing: _Standing | None = None
        self._tried: Inode | None = None
        self._backoff = Backoff()
        self._failure_said = Sparingly(timing.repeat)
        #: The faults by which the last attempt may have failed.
        self._to_blame: frozenset[str] = frozenset()
        switchboard.book.call_on_removal(self._wake.set)

    @property
    def resource_name(self) -> str:
        """Return what is registered."""
        return self._resource.name

    def run(self) -> None:
        """Work until `stop`; then end the streams and remove the socket."""
        while not self._stopping:
            self._wake.clear()
            self._pass()
            self._wake.wait(self._seconds_to_next_pass())
        self._drop()

    def look(self) -> None:
        """Make the next pass come at once: something has happened."""
        self._wake.set()
        self._switchboard.book.wake()

    def stop(self) -> None:
        """Let `run` come to its end."""
        self._stopping = True
        self.look()

    def remove_socket(self) -> bool:
        """Remove the socket from under the listener, as somebody who tidies up may do.

        False where the resource is not registered. Raises OSError where the system does not let it.
        """
        standing = self._standing
        if standing is None or not standing.listener.is_in_place:
            return False
        standing.listener.path.unlink()
        return True

    def _pass(self) -> None:
        kubelet = Inode.of(self._kubelet_socket)
        if self._standing and (reason := self._broken(self._standing, kubelet)):
            self._lose(self._standing, reason)
        if kubelet != self._tried or self._is_forgiven():
            self._tried = kubelet
            self._to_blame = frozenset()
            self._backoff.reset()
        if not self._standing and not self._backoff.seconds_left():
            self._attempt(kubelet)
        self._readiness.set_ready(self._resource.name, ready=self._is_watched())

    def _seconds_to_next_pass(self) -> float:
        if self._is_forgiven():
            return 0.0
        if self._standing is None:
            return min(self._backoff.seconds_left(), self._timing.look)
        if not self._standing.listener.streams.opened:
            return min(self._timing.first_stream, self._timing.look)
        return self._timing.look

    def _is_forgiven(self) -> bool:
        """Tell whether a fault is gone by which the last attempt may have failed."""
        return not self._switchboard.book.has_all(self._to_blame)

    def _is_watched(self) -> bool:
        return self._standing is not None and self._standing.listener.streams.watched

    def _broken(self, standing: _Standing, kubelet: Inode | None) -> str:
        """Return why a registration no longer holds, "" where it does."""
        streams = standing.listener.streams
        reason = ""
        if kubelet is None and streams.watched:
            # A kubelet that still watches cannot be reached for anything better.
            pass
        elif kubelet is not None and kubelet != standing.kubelet:
            reason = "kubelet.sock is a new one: the kubelet has restarted"
        elif not standing.listener.is_in_place:
            reason = "the socket of this plugin was removed"
        elif streams.opened and not streams.watched:
            reason = "the kubelet no longer watches the list of devices"
        elif not streams.opened and standing.age > self._timing.first_stream:
            reason = "the kubelet has accepted the resource, and never asked for its devices"
        return reason

    def _lose(self, standing: _Standing, reason: str) -> None:
        say(events.REGISTRATION_LOST, resource=self._resource.name, reason=reason)
        settled = standing.age > self._timing.settled
        watched = self._is_watched()
        self._to_blame = standing.listener.to_blame
        self._drop()
        if settled:
            self._backoff.reset()
        else:
            self._backoff.failed(self._timing.unreachable)
        if watched and not self._stopping:
            # Up to 1.36 the kubelet takes the end of an old stream for that of the newest socket.
            time.sleep(self._timing.old_stream)

    def _drop(self) -> None:
        if self._standing:
            self._standing.listener.close()
            self._standing = None
            self._readiness.set_ready(self._resource.name, ready=False)

    def _attempt(self, kubelet: Inode | None) -> None:
        if kubelet is None:
            self._failed(events.WAITING, "kubelet.sock is not there")
        elif not answers(self._kubelet_socket):
            self._failed(events.WAITING, "nobody listens on kubelet.sock")
        else:
            self._attempt_with(kubelet)

    def _attempt_with(self, kubelet: Inode) -> None:
        fault = self._switchboard.book.meet("Register", self._resource.name)
        request = self._request(fault)
        record = Record("Register", self._resource.name, request)
        record.fault = fault.id if fault else ""
        # A call that a fault holds has begun, though it may never be sent.
        record.code = grpc.StatusCode.CANCELLED.name
        with self._switchboard.journal.recording(record):
            listener = self._listener(kubelet, fault)
            if listener:
                request.endpoint = listener.path.name
            failure = self._register(request, kubelet, record) if listener else None
        if listener and failure:
            listener.close()
            # The name is a new one each time, and would make each refusal look like news.
            self._failed(failure.event, failure.reason.replace(listener.path.name, "<socket>"))
            self._to_blame = listener.to_blame | _refused_by(fault)
        elif listener:
            self._stand(_Standing(kubelet, listener, time.monotonic()))

    def _request(self, fault: Fault | None) -> RegisterRequest:
        """Return what the kubelet is to be told, but for the socket, which there is not yet."""
        return RegisterRequest(
            version=_REFUSED_VERSION if _refused_by(fault) else VERSION,
            resource_name=self._resource.name,
            options=options_of(self._resource),
        )

    def _listener(self, kubelet: Inode, fault: Fault | None) -> Listener | None:
        """Listen, once a fault lets it; None where there is nothing to register then."""
        if fault and not self._waits_out(fault, kubelet):
            return None
        try:
            listener = Listener(self._resource, self._names, self._switchboard, self.look)
        except OSError as problem:
            self._failed(events.CANNOT_LISTEN, str(problem))
            return None
        say(events.REGISTERING, resource=self._resource.name, socket=listener.path.name)
        return listener

    def _stand(self, standing: _Standing) -> None:
        self._standing = standing
        self._to_blame = frozenset()
        self._failure_said.forget()
        say(
            events.REGISTERED,
            resource=self._resource.name,
            socket=standing.listener.path.name,
            devices=len(self._resource.devices),
            ms_since_start=milliseconds_since_start(),
        )

    def _waits_out(self, fault: Fault, kubelet: Inode) -> bool:
        """Come late, or never, where a fault says so; tell whether to register still."""
        seconds = fault.effect.seconds if isinstance(fault.effect, Delay) else None
        if isinstance(fault.effect, Delay | Hang):
            say(events.REGISTER_HELD, resource=self._resource.name, fault=fault.id)
            self._switchboard.book.wait_out(fault, lambda: self._is_past(kubelet), seconds)
        return not self._is_past(kubelet)

    def _is_past(self, kubelet: Inode) -> bool:
        """Tell whether there is nobody any more to wait for: we end, or the kubelet has."""
        return self._stopping or Inode.of(self._kubelet_socket) != kubelet

    def _failed(self, event: Event, reason: str) -> None:
        if not self._stopping and self._failure_said.is_due(reason):
            say(event, resource=self._resource.name, reason=reason)
        self._to_blame = frozenset()
        waiting = event is events.WAITING
        self._backoff.failed(self._timing.unreachable if waiting else self._timing.refused)

    def _register(
        self, request: RegisterRequest, kubelet: Inode, record: Record
    ) -> _Failure | None:
        """Tell the kubelet; return why it did not accept, None where it did."""
        address = target(self._kubelet_socket)
        with grpc.insecure_channel(address, options=_CHANNEL_OPTIONS) as channel:
            call = RegistrationStub(channel).Register.future(request, self._timing.register)
            call.add_done_callback(lambda _: self.look())
            while not call.done():
                self._wake.clear()
                if self._is_past(kubelet):
                    call.cancel()
                    return _Failure(events.WAITING, "the kubelet ended before it answered")
                if not call.done():
                    self._wake.wait(self._timing.look)
            record.code = call.code().name
            return _failure_of(call)


def _refused_by(fault: Fault | None) -> frozenset[str]:
    """Return the ID of a fault that has the kubelet refuse; one that holds a call back does not."""
    return frozenset([fault.id] if fault and isinstance(fault.effect, Fail) else [])


def _failure_of(call: grpc.Call) -> _Failure | None:
    code = call.code()
    if code is grpc.StatusCode.OK:
        return None
    # What the kubelet itself says has other codes: this is a connection that broke.
    event = events.WAITING if code in _BROKEN else events.REFUSED
    return _Failure(event, f"{call.details()} ({code.name})")
