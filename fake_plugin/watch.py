"""Tells of changes in the kubelet's folder as they happen, by inotify where the system has it."""

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from inotify_simple import INotify, flags

from fake_plugin.sockets import is_ours

_MASK: Final = (
    flags.CREATE
    | flags.DELETE
    | flags.MOVED_FROM
    | flags.MOVED_TO
    | flags.DELETE_SELF
    | flags.MOVE_SELF
    | flags.ONLYDIR
)
_LOOK_MS: Final = 1000
_MISSING_LOOK_MS: Final = 200


class FolderWatch:
    """Calls `on_change` when kubelet.sock or a socket of ours comes or goes in `folder`.

    Other files cause nothing. The folder itself may vanish and return. Raises OSError where the
    system cannot watch: it has no inotify, or no more of it.
    """

    def __init__(self, folder: Path, on_change: Callable[[], None]) -> None:
        self._folder = folder
        self._on_change = on_change
        self._stopping = False
        try:
            # It looks for the C library through a child process: to be done before gRPC starts.
            self._inotify = INotify()
        except AttributeError as problem:
            raise OSError("no inotify") from problem
        self._watched = self._add()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        """Watch in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; once is enough."""
        if self._stopping:
            return
        self._stopping = True
        if self._watched is not None:
            # The end of a watch is an event too: it wakes the thread.
            with contextlib.suppress(OSError):
                self._inotify.rm_watch(self._watched)
        self._thread.join()
        self._inotify.close()

    def _run(self) -> None:
        while not self._stopping:
            pause = _LOOK_MS if self._watched is not None else _MISSING_LOOK_MS
            names = {event.name for event in self._inotify.read(pause)}
            if self._stopping:
                return
            # Adding a watch for the folder that is watched already changes nothing.
            watched = self._add()
            moved = watched != self._watched
            self._watched = watched
            if moved or any(_matters(name) for name in names):
                self._on_change()

    def _add(self) -> int | None:
        try:
            return int(self._inotify.add_watch(os.fspath(self._folder), _MASK))
        except OSError:
            return None


def _matters(name: str) -> bool:
    # Without a name, an event is about the folder itself, or says that others were lost.
    return name in {"", "kubelet.sock"} or is_ours(name)
