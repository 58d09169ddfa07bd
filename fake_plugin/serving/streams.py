"""The account of the open ListAndWatch streams of one listener."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Final

import grpc

from fake_plugin import events
from fake_plugin.log import say
from fake_plugin.resources.resource import Resource

#: Each open stream holds a thread of the server, which has more than these: enough for Allocate.
MOST: Final = 8


class Streams:
    """Counts streams as they open and end, tells the kubelet's from others, and ends them all.

    A call over a socket does not say who makes it. The kubelet's stream is the first: it is opened
    within Register, before others learn of the socket. `on_change` is called, from a thread of
    gRPC, when a stream opens or ends.
    """

    def __init__(self, resource: Resource, on_change: Callable[[], None]) -> None:
        self.resource = resource
        self._on_change = on_change
        self._lock = threading.Lock()
        self._open = 0
        self._opened = False
        self._watched = False
        self._closing = False
        self._dropped: set[grpc.ServicerContext] = set()

    @property
    def opened(self) -> bool:
        """Whether there was a stream so far."""
        return self._opened

    @property
    def watched(self) -> bool:
        """Whether the kubelet's stream is open, whatever others are."""
        return self._watched

    def enter(self, context: grpc.ServicerContext) -> bool:
        """Count a stream in, until its call ends; False where no more are served."""
        with self._lock:
            if self._closing or self._open >= MOST:
                return False
            leave = partial(self._leave, context, kubelets=not self._opened)
            self._open += 1
            if not self._opened:
                self._opened = self._watched = True
        # gRPC says so where the call has ended before its end could be listened to.
        if not context.add_callback(leave):
            leave()
        say(events.STREAM_OPENED, resource=self.resource.name)
        self._on_change()
        return True

    def full(self) -> str:
        """Return why `enter` said no."""
        return f"{self.resource.name}: the plugin is ending, or {MOST} lists are watched already"

    def over(self, context: grpc.ServicerContext) -> Callable[[], bool]:
        """Return the question whether the stream of this call must end."""
        return lambda: self._closing or context in self._dropped or not context.is_active()

    def drop(self, context: grpc.ServicerContext) -> None:
        """End the stream of one call."""
        with self._lock:
            self._dropped.add(context)
        self.resource.wake()

    def close(self) -> None:
        """End all streams, and let no new one in."""
        self._closing = True
        self.resource.wake()

    def _leave(self, context: grpc.ServicerContext, *, kubelets: bool) -> None:
        with self._lock:
            self._open -= 1
            self._watched = self._watched and not kubelets
            self._dropped.discard(context)
        say(events.STREAM_ENDED, resource=self.resource.name)
        self.resource.wake()
        self._on_change()
