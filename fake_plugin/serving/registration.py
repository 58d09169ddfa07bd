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

from fake_plugin import events
from fake_plugin.files.inode import Inode
from fake_plugin.log import Sparingly, milliseconds_since_start, say
from fake_plugin.resources.resource import Resource
from fake_plugin.serving.attempt import Attempt, Failure
from fake_plugin.serving.backoff import Backoff
from fake_plugin.serving.interceptor import Switchboard
from fake_plugin.serving.listener import Listener
from fake_plugin.serving.readiness import Readiness
from fake_plugin.serving.sockets import SocketNames, answers
from fake_plugin.serving.timing import Timing


@dataclass(frozen=True)
class _Standing:
    """An accepted registration: with which kubelet, by which listener, since when."""

    kubelet: Inode
    listener: Listener
    since: float

    @property
    def age(self) -> float:
        return time.monotonic() - self.since


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
        kubelet = Inode.of(self._names.kubelet)
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
            self._failed(Failure(events.WAITING, "kubelet.sock is not there"))
        elif not answers(self._names.kubelet):
            self._failed(Failure(events.WAITING, "nobody listens on kubelet.sock"))
        else:
            self._attempt_with(kubelet)

    def _attempt_with(self, kubelet: Inode) -> None:
        attempt = Attempt(
            self._resource,
            self._names,
            self._switchboard,
            self._timing,
            is_past=lambda: self._is_past(kubelet),
            wake=self._wake,
            look=self.look,
        )
        match attempt.make():
            case Failure() as failure:
                self._failed(failure)
            case Listener() as listener:
                self._stand(_Standing(kubelet, listener, time.monotonic()))

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

    def _is_past(self, kubelet: Inode) -> bool:
        """Tell whether there is nobody any more to wait for: we end, or the kubelet has."""
        return self._stopping or Inode.of(self._names.kubelet) != kubelet

    def _failed(self, failure: Failure) -> None:
        if not self._stopping and self._failure_said.is_due(failure.reason):
            say(failure.event, resource=self._resource.name, reason=failure.reason)
        self._to_blame = failure.to_blame
        waiting = failure.event is events.WAITING
        self._backoff.failed(self._timing.unreachable if waiting else self._timing.refused)
