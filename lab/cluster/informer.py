"""Objects of the API, kept as the server has them by a watch: what client-go calls an informer.

Whoever waits for something to become so waits on the condition that all informers of a lab share,
and looks again when an object has changed: at the event, not at the next turn of a poll. What an
object was between two looks is not lost, either: the last changes are kept.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Final, Generic, TypeVar

from lab.cluster.connection import ApiFailed, Connection, Json, Query

#: A watch is opened anew after this long.
_WATCH_SECONDS: Final = 30
_PAUSE_SECONDS: Final = 0.2
_MOST_CHANGES: Final = 4096
_GONE: Final = "DELETED"

_T = TypeVar("_T")


@dataclass(frozen=True)
class Change(Generic[_T]):
    """What became of an object; `number` is the order among the changes of all informers."""

    number: int
    object: _T
    deleted: bool


class Changes:
    """The condition and the numbers that informers share."""

    def __init__(self) -> None:
        self.condition = threading.Condition()
        self._numbers = count(1)
        self.last = 0

    def next(self) -> int:
        """Return the next number; for who holds the condition."""
        self.last = next(self._numbers)
        return self.last


class Informer(Generic[_T]):
    """The objects at one path, by namespace and name."""

    def __init__(
        self,
        connection: Connection,
        path: str,
        read: Callable[[Json], _T],
        changes: Changes,
        query: Query = (),
    ) -> None:
        self._connection = connection
        self._path = path
        self._query = query
        self._read = read
        self.changes = changes
        self._objects: dict[tuple[str, str], _T] = {}
        self._history: deque[Change[_T]] = deque(maxlen=_MOST_CHANGES)
        self._stopping = threading.Event()
        self._ready = threading.Event()
        #: Why the server cannot be asked, as long as it cannot.
        self.error: ApiFailed | None = None

    def all(self) -> tuple[_T, ...]:
        """Return the objects by name."""
        with self.changes.condition:
            return tuple(found for _, found in sorted(self._objects.items()))

    def get(self, name: str, namespace: str = "") -> _T | None:
        """Return an object, None where there is none."""
        with self.changes.condition:
            return self._objects.get((namespace, name))

    def since(self, number: int) -> tuple[Change[_T], ...]:
        """Return the changes after a number, oldest first; the first are lost after thousands."""
        with self.changes.condition:
            return tuple(each for each in self._history if each.number > number)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Keep the objects up to date inside the block, which begins when they are there.

        Raises the server's error where they cannot be had.
        """
        thread = threading.Thread(target=self._run, name=f"informer {self._path}", daemon=True)
        thread.start()
        try:
            self._ready.wait()
            if self.error:
                raise self.error
            yield
        finally:
            # The thread ends with its watch's next line, or its last: nobody waits for that.
            self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                version = self._list()
                self._ready.set()
                self._follow(version)
            except ApiFailed as error:
                with self.changes.condition:
                    self.error = error
                    self.changes.condition.notify_all()
                self._ready.set()
                self._stopping.wait(_PAUSE_SECONDS)

    def _list(self) -> str:
        found = self._connection.get(self._path, self._query)
        listed = {_key(each): self._read(each) for each in found["items"]}
        with self.changes.condition:
            self.error = None
            for key in self._objects.keys() - listed.keys():
                self._note(self._objects[key], deleted=True)
            for key, each in listed.items():
                if self._objects.get(key) != each:
                    self._note(each, deleted=False)
            self._objects = listed
            self.changes.condition.notify_all()
        return str(found["metadata"]["resourceVersion"])

    def _follow(self, version: str) -> None:
        """Take what changes after a version, until the server no longer knows that version."""
        while not self._stopping.is_set():
            query = [*self._query, ("resourceVersion", version), ("allowWatchBookmarks", "true")]
            for line in self._connection.watch(self._path, query, _WATCH_SECONDS):
                event = json.loads(line)
                if event["type"] == "ERROR" or self._stopping.is_set():
                    return
                version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    self._take(event["object"], deleted=event["type"] == _GONE)

    def _take(self, found: Json, *, deleted: bool) -> None:
        each = self._read(found)
        with self.changes.condition:
            if deleted:
                self._objects.pop(_key(found), None)
            else:
                self._objects[_key(found)] = each
            self._note(each, deleted=deleted)
            self.changes.condition.notify_all()

    def _note(self, found: _T, *, deleted: bool) -> None:
        self._history.append(Change(self.changes.next(), found, deleted))


def _key(found: Json) -> tuple[str, str]:
    meta = found["metadata"]
    return meta.get("namespace", ""), meta["name"]
