"""The rules of a node by which calls go wrong, as its plugin has them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pydantic import JsonValue, model_serializer, model_validator

from fake_plugin.faults.book import Entry
from fake_plugin.faults.fault import Delay, Drop, Effect, Fail, Fault, Hang, Wrong
from fake_plugin.fleet.faults import read_fault
from lab.cluster.plugin.words import Words
from lab.core.errors import UsageError
from lab.core.fleet import wording

_ID: Final = re.compile(r"(rule|fleet)-[0-9]{1,9}")
_NO_WORDS: Final = frozenset({"id", "seen", "hit", "spent"})


class Rule(Entry):
    """A rule: its fault, how many calls it has matched (`seen`), and how many met it (`hit`)."""

    def __str__(self) -> str:
        """Return it in a line: its ID, the call, what befalls it, and when."""
        fault = self.fault
        about = f" of {fault.resource}" if fault.resource else ""
        return f"{fault.id}: {fault.call}{about} {_befalls(fault)}, {_turns(fault)}"

    @model_validator(mode="before")
    @classmethod
    def _read(cls, found: Mapping[str, JsonValue]) -> Mapping[str, object]:
        words = {key: value for key, value in found.items() if key not in _NO_WORDS}
        _, read = read_fault(Words.given(words), 0)
        return {**found, "fault": replace(read, id=str(found["id"]))}

    @model_serializer
    def _written(self) -> dict[str, object]:
        limits = dict.fromkeys(("resource", "nth", "times"))
        counts = {"seen": self.seen, "hit": self.hit, "spent": self.is_spent}
        return {"id": self.fault.id, **limits, **wording.fault(self.fault), **counts}


@dataclass(frozen=True)
class Rules:
    """The rules of a node, in the order in which a call is asked about them."""

    faults: tuple[Rule, ...]


@dataclass(frozen=True)
class RuleRemoved:
    """How many rules are gone."""

    removed: int


def require_id(text: str) -> None:
    """Raise `UsageError` for what is no rule's ID.

    An empty one too: a variable that is not set must not stand for all rules.
    """
    if not _ID.fullmatch(text):
        raise UsageError(
            f"{text!r} names no rule: rule-1 and fleet-1 would, as `gpulab inject list` shows them",
            remedy="name one of those; nothing was changed",
        )


def _befalls(fault: Fault) -> str:
    effect: Effect = fault.effect
    match effect:
        case Fail() if fault.call == "Register":
            return "is refused by the kubelet"
        case Fail(text, code):
            return f"fails: {text} ({code})"
        case Delay(seconds):
            return f"is late by {wording.duration(seconds)}"
        case Hang():
            return "hangs"
        case Wrong(answer):
            return f"is answered wrongly: {answer}"
        case Drop(seconds):
            return f"is dropped after {wording.duration(seconds)}"


def _turns(fault: Fault) -> str:
    nth, times = fault.nth, fault.times
    if nth is None:
        return "every time" if times is None else f"the first {times} times"
    return f"call {nth}" if times in {None, 1} else f"calls {nth} to {nth + (times or 1) - 1}"
