"""A rule by which calls are to go wrong, as it is asked for."""

from dataclasses import replace
from typing import Final, TypedDict, Unpack

from fake_plugin.faults.fault import Call, Fault, WrongAnswer
from fake_plugin.fleet.faults import read_fault
from lab.cluster.plugin.words import Words, by_the_rules
from lab.core.fleet import wording

_NO_ID: Final = ""


class Effect(TypedDict, total=False):
    """What befalls calls, by exactly one of `fails`, `delay`, `hang`, `answers` and `drop`.

    `code` goes with `fails`; `delay` and `drop` are seconds. The rest limits which calls: see
    `fake_plugin.faults.fault.Fault`.
    """

    fails: str | None
    code: str | None
    delay: float | None
    hang: bool
    answers: WrongAnswer | None
    drop: float | None
    resource: str | None
    nth: int | None
    times: int | None


def fault(call: Call, **effect: Unpack[Effect]) -> Fault:
    """Return a rule to ask for; it has no ID yet.

    Raises `UsageError` for what the plugin would refuse, which is `GiveOne` unless there is one
    thing that befalls the calls.
    """
    times = {"delay": effect.get("delay"), "drop": effect.get("drop")}
    worded = {key: wording.duration(time) for key, time in times.items() if time is not None}
    words: dict[str, object] = {"call": call, **effect, **worded}
    with by_the_rules():
        _, found = read_fault(Words.given(words), 0)
    return replace(found, id=_NO_ID)
