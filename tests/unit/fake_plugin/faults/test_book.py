"""Which rule a call meets, how calls are counted, and how waiting ends."""

import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_plugin.faults.book import FaultBook
from fake_plugin.faults.fault import Call, Drop, Effect, Fail, Fault, Hang, Wrong, misfit
from tests.unit.fake_plugin.kubelet import wait_until

GPU = "nvidia.com/gpu"


def met(book: FaultBook, calls: int, resource: str = GPU) -> list[str]:
    """Return the IDs of the faults that as many calls of Allocate meet, "" for none."""
    faults = [book.meet("Allocate", resource) for _ in range(calls)]
    return [fault.id if fault else "" for fault in faults]


@pytest.mark.parametrize(
    ("nth", "times", "expected"),
    [
        (None, None, ["a", "a", "a", "a"]),
        (1, None, ["a", "", "", ""]),
        (3, None, ["", "", "a", ""]),
        (2, 2, ["", "a", "a", ""]),
        (None, 2, ["a", "a", "", ""]),
    ],
)
def test_a_rule_holds_for_its_calls(
    nth: int | None, times: int | None, expected: list[str]
) -> None:
    """Without a number for all, with one for that call, or for as many as it says."""
    book = FaultBook([Fault("a", "Allocate", Hang(), nth=nth, times=times)])
    assert met(book, 4) == expected


def test_other_calls_and_resources_are_not_counted() -> None:
    """The second Allocate of the resource is the second, whatever else is called."""
    book = FaultBook([Fault("a", "Allocate", Hang(), resource=GPU, nth=2)])
    assert book.meet("PreStartContainer", GPU) is None
    assert met(book, 3, "amd.com/gpu") == ["", "", ""]
    assert met(book, 3) == ["", "a", ""]
    (entry,) = book.entries()
    assert (entry.seen, entry.hit, entry.is_spent) == (3, 1, True)


def test_the_first_rule_wins_and_the_second_counts_all_the_same() -> None:
    """A call has one fault; each rule's numbers are those of all calls since it was made."""
    book = FaultBook([Fault("a", "Allocate", Hang(), nth=1), Fault("b", "Allocate", Hang(), nth=2)])
    book.add("Allocate", Hang())
    assert met(book, 3) == ["a", "b", "rule-1"]
    assert [(entry.seen, entry.hit) for entry in book.entries()] == [(3, 1), (3, 1), (3, 1)]


def test_ids_are_not_given_twice() -> None:
    """A new rule never has the ID of one that is there, or was."""
    book = FaultBook([Fault("rule-2", "Allocate", Hang())])
    first = book.add("Allocate", Hang())
    book.remove(first.id)
    assert [first.id, book.add("Allocate", Hang()).id] == ["rule-1", "rule-3"]


def test_rules_go_one_by_one_or_all_at_once() -> None:
    """Who removes learns whether there was something to remove."""
    book = FaultBook([Fault(name, "Allocate", Hang()) for name in "abc"])
    assert (book.remove("b"), book.remove("b")) == (True, False)
    assert (book.clear(), book.clear()) == (2, 0)
    assert met(book, 1) == [""]


@given(
    nth=st.one_of(st.none(), st.integers(1, 12)),
    times=st.one_of(st.none(), st.integers(1, 12)),
    before=st.integers(0, 20),
)
def test_a_spent_rule_never_holds_again(nth: int | None, times: int | None, before: int) -> None:
    """Once a rule says that it is spent, no call meets it; until then some call will."""
    book = FaultBook([Fault("a", "Allocate", Hang(), nth=nth, times=times)])
    met(book, before)
    spent = book.entries()[0].is_spent
    assert ("a" in met(book, 30)) == (not spent)


@pytest.mark.parametrize("end", ["removed", "cleared", "over"])
def test_waiting_ends(end: str) -> None:
    """With the rule, or with what is waited on."""
    fault = Fault("a", "Allocate", Hang())
    book, over = FaultBook([fault]), threading.Event()
    waiting = threading.Thread(target=book.wait_out, args=(fault, over.is_set))
    waiting.start()
    book.wake()
    assert waiting.is_alive()
    if end == "over":
        over.set()
        book.wake()
    elif end == "removed":
        book.remove("a")
    else:
        book.clear()
    wait_until("the end of waiting", lambda: not waiting.is_alive())


def test_waiting_ends_with_its_time() -> None:
    """A delay is over by itself, and the rule stays."""
    fault = Fault("a", "Allocate", Hang())
    book = FaultBook([fault])
    book.wait_out(fault, lambda: False, 0.001)
    assert len(book.entries()) == 1


@pytest.mark.parametrize(
    ("call", "effect", "rule"),
    [
        ("Allocate", Drop(0), "Allocate has no stream that could be dropped"),
        ("Register", Wrong("empty"), "the answer to Register has no content"),
        ("PreStartContainer", Wrong("empty"), "the answer to PreStartContainer has no content"),
        ("GetDevicePluginOptions", Wrong("too-many"), "can be empty, and is wrong in no other way"),
        ("GetDevicePluginOptions", Wrong("empty"), ""),
        ("ListAndWatch", Drop(1), ""),
        ("Register", Fail("no"), ""),
    ],
)
def test_a_fault_has_to_fit_its_call(call: Call, effect: Effect, rule: str) -> None:
    """What could never be seen is told, and not kept."""
    assert rule in misfit(call, effect)
    assert bool(misfit(call, effect)) == bool(rule)


@pytest.mark.parametrize("remove", [lambda book: book.remove("a"), lambda book: book.clear()])
def test_who_waits_for_the_end_of_a_rule_is_told_once(
    remove: Callable[[FaultBook], object],
) -> None:
    """Also who has asked twice, and who asks when it has gone; not at the end of another."""
    told: list[str] = []

    def tell() -> None:
        told.append("gone")

    book = FaultBook([fault := Fault("a", "Allocate", Hang()), Fault("b", "Allocate", Hang())])
    book.when_gone(fault, tell)
    book.when_gone(fault, tell)
    book.remove("b")
    assert told == []
    remove(book)
    remove(book)
    assert told == ["gone"]
    book.when_gone(fault, tell)
    assert told == ["gone", "gone"]
