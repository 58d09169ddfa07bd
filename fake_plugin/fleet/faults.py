"""The faults of the fleet file: which calls go wrong, on which node, and how."""

from typing import Final

from fake_plugin.faults.fault import (
    CALLS,
    CODES,
    MOST_CHARACTERS,
    WRONG_ANSWERS,
    Delay,
    Drop,
    Effect,
    Fail,
    Fault,
    Hang,
    Wrong,
    misfit,
)
from fake_plugin.files.mapping import Mapping
from fake_plugin.resources.naming import broken_rule

_EFFECTS: Final = ("fails", "delay", "hang", "answers", "drop")
_KEYS: Final = ("call", "node", "resource", "nth", "times", *_EFFECTS, "code")


def read_fault(fault: Mapping, number: int) -> tuple[str | None, Fault]:
    """Return the member that a fault is for, None for every node, and the fault.

    Its id is `fleet-<number>`. Raises `WrongUse` for what is wrong with it.
    """
    fault.only(*_KEYS)
    call = fault.choice("call", {each: each for each in CALLS})
    effect = _effect(fault)
    if reason := misfit(call, effect):
        fault.refuse("call", f"does not fit: {reason}")
    resource = fault.optional_text("resource")
    if resource is not None and (rule := broken_rule(resource)):
        fault.refuse("resource", rule)
    return fault.optional_text("node"), Fault(
        id=f"fleet-{number}",
        call=call,
        effect=effect,
        resource=resource,
        nth=fault.optional_number("nth", least=1),
        times=fault.optional_number("times", least=1),
    )


def _effect(fault: Mapping) -> Effect:
    kind = fault.one_of(*_EFFECTS)
    if kind != "fails" and "code" in fault.values:
        fault.refuse("code", "is the code of a call that fails: it goes with fails")
    match kind:
        case "fails":
            text, codes = fault.text("fails"), {each: each for each in CODES}
            if len(text) > MOST_CHARACTERS:
                fault.refuse("fails", f"must have {MOST_CHARACTERS} characters or less")
            return Fail(text, fault.choice("code", codes, "UNKNOWN"))
        case "delay":
            return Delay(fault.duration("delay"))
        case "answers":
            return Wrong(fault.choice("answers", {each: each for each in WRONG_ANSWERS}))
        case "drop":
            return Drop(fault.duration("drop", or_zero=True))
    if not fault.flag("hang"):
        fault.refuse("hang", "must be true: a call that does not hang needs no rule")
    return Hang()
