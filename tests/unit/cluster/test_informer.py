"""An informer against a connection that says what a test wants."""

import json
import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

import pytest

from lab.cluster.connection import ApiFailed, Connection, Json, Query
from lab.cluster.informer import Changes, Informer

UNREACHABLE = ApiFailed("the cluster's API server does not answer")


def thing(name: str, value: int, version: int = 1) -> dict[str, Any]:
    """Return an object of the API."""
    return {"metadata": {"name": name, "resourceVersion": str(version)}, "value": value}


class Scripted(Connection):
    """Lists what it holds; a watch yields what is put into it, and breaks at an error."""

    def __init__(self, *listed: dict[str, Any]) -> None:
        self.listed = list(listed)
        self.lines: SimpleQueue[tuple[str, dict[str, Any]] | ApiFailed | None] = SimpleQueue()
        self.watched: list[str] = []
        self.error: ApiFailed | None = None

    def get(self, path: str, query: Query = ()) -> Json:
        """Return the list."""
        del path, query
        if self.error:
            raise self.error
        return {"items": self.listed, "metadata": {"resourceVersion": "7"}}

    def watch(self, path: str, query: Query, seconds: int) -> Iterator[bytes]:
        """Yield what is put into it; None ends it."""
        del path, seconds
        self.watched.append(dict(query)["resourceVersion"])
        while line := self.lines.get():
            if isinstance(line, ApiFailed):
                raise line
            yield json.dumps({"type": line[0], "object": line[1]}).encode()


@pytest.fixture
def connection() -> Scripted:
    """Return a connection to a server with one object."""
    return Scripted(thing("a", 1))


@pytest.fixture
def informer(connection: Scripted) -> Iterator[Informer[int]]:
    """Return an informer that watches it."""
    informer = Informer(connection, "/things", lambda found: int(found["value"]), Changes())
    with informer.watching():
        yield informer
    connection.lines.put(None)


def wait_for(informer: Informer[int], *values: int) -> None:
    """Wait until the informer holds these values."""
    condition = informer.changes.condition
    with condition:
        assert condition.wait_for(lambda: informer.all() == values, 10), informer.all()


def test_what_is_listed_is_there_at_once(informer: Informer[int]) -> None:
    """Whoever enters the block need not wait for a first change."""
    assert (informer.all(), informer.get("a"), informer.get("b")) == ((1,), 1, None)


def test_a_change_wakes_whoever_waits(connection: Scripted, informer: Informer[int]) -> None:
    """Added, modified and deleted: each is taken as it comes."""
    connection.lines.put(("ADDED", thing("b", 2)))
    wait_for(informer, 1, 2)
    connection.lines.put(("MODIFIED", thing("a", 3)))
    wait_for(informer, 3, 2)
    connection.lines.put(("DELETED", thing("a", 3)))
    wait_for(informer, 2)


def test_what_was_between_two_looks_is_kept(connection: Scripted, informer: Informer[int]) -> None:
    """A state that lasted no longer than a blink is still seen by who asks for the changes."""
    seen = informer.changes.last
    for value in (2, 3, 1):
        connection.lines.put(("MODIFIED", thing("a", value)))
    connection.lines.put(("ADDED", thing("b", 9)))
    wait_for(informer, 1, 9)
    assert [each.object for each in informer.since(seen)] == [2, 3, 1, 9]


def test_a_watch_goes_on_where_it_ended(connection: Scripted, informer: Informer[int]) -> None:
    """At the last version, be it that of a bookmark; nothing is listed again."""
    connection.lines.put(("BOOKMARK", thing("-", 0, version=41)))
    connection.lines.put(None)
    connection.lines.put(("ADDED", thing("b", 2)))
    wait_for(informer, 1, 2)
    assert connection.watched == ["7", "41"]


@pytest.mark.parametrize("end", [UNREACHABLE, ("ERROR", {"code": 410})], ids=["cut", "too-old"])
def test_what_was_missed_is_listed_anew(
    connection: Scripted, informer: Informer[int], end: ApiFailed | tuple[str, dict[str, Any]]
) -> None:
    """What has gone meanwhile counts as deleted."""
    seen = informer.changes.last
    connection.listed = [thing("b", 2)]
    connection.lines.put(end)
    wait_for(informer, 2)
    assert [(each.object, each.deleted) for each in informer.since(seen)] == [
        (1, True),
        (2, False),
    ]


def test_a_server_that_is_lost_and_found_is_told(
    connection: Scripted, informer: Informer[int]
) -> None:
    """The objects are those that were last seen, and the error is there as long as it lasts."""
    condition = informer.changes.condition
    connection.error = UNREACHABLE
    connection.lines.put(UNREACHABLE)
    with condition:
        assert condition.wait_for(lambda: informer.error is UNREACHABLE, 10)
    assert informer.all() == (1,)
    connection.error = None
    with condition:
        assert condition.wait_for(lambda: informer.error is None, 10)


def test_a_server_that_never_answered_is_an_error(connection: Scripted) -> None:
    """Before the block, not in the middle of it."""
    connection.error = UNREACHABLE
    informer = Informer(connection, "/things", lambda found: int(found["value"]), Changes())
    with pytest.raises(ApiFailed, match="does not answer"), informer.watching():
        pytest.fail("nothing can be watched")


def test_nobody_watches_after_the_block(connection: Scripted) -> None:
    """The thread ends with its watch."""
    informer = Informer(connection, "/things", lambda found: int(found["value"]), Changes())
    with informer.watching():
        pass
    connection.lines.put(None)
    for thread in threading.enumerate():
        if thread.name == "informer /things":
            thread.join(10)
            assert not thread.is_alive()
