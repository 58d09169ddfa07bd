"""Tells of changes in the kubelet's folder as they happen, by inotify where the system has it."""

import contextlib
import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from inotify_simple import INotify, flags

from fake_plugin import events
from fake_plugin.log import say
from fake_plugin.serving.sockets import is_ours

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
_UNWATCHED_LOOK_MS: Final = 500
_GONE: Final = frozenset({errno.ENOENT, errno.ENOTDIR})


class FolderWatch:
    """Calls `on_change` when kubelet.sock or a socket of ours comes or goes in `folder`.

    Other files cause nothing. The folder itself may vanish and return. Raises OSError where the
    system cannot watch: it has no inotify, or no more of it. Where that happens later, as a folder
    that returned is to be watched, it is logged and `on_change` called twice a second instead.
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
        try:
            self._watched = self._add()
        except OSError:
            self._inotify.close()
            raise
        self._refusal = ""
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
            names = {event.name for event in self._inotify.read(self._pause())}
            if self._stopping:
                return
            moved = self._follow()
            if moved or self._refusal or any(_matters(name) for name in names):
                self._on_change()

    def _pause(self) -> int:
        if self._watched is not None:
            return _LOOK_MS
        return _UNWATCHED_LOOK_MS if self._refusal else _MISSING_LOOK_MS

    def _follow(self) -> bool:
        """Watch what is now at the folder's path; tell whether that is another than before."""
        before, refused_before = self._watched, self._refusal
        try:
            # Adding a watch for the folder that is watched already changes nothing.
            self._watched, self._refusal = self._add(), ""
        except OSError as problem:
            self._watched, self._refusal = None, str(problem)
            if not refused_before:
                say(events.WATCH_MISSING, folder=str(self._folder), reason=self._refusal)
        return self._watched != before

    def _add(self) -> int | None:
        """Return the watch, or None where the folder is not there."""
        try:
            return int(self._inotify.add_watch(os.fspath(self._folder), _MASK))
        except OSError as problem:
            if problem.errno in _GONE:
                return None
            raise


def _matters(name: str) -> bool:
    # Without a name, an event is about the folder itself, or says that others were lost.
    return name in {"", "kubelet.sock"} or is_ours(name)
