"""Pydantic's errors in the words of the fleet file."""

from collections.abc import Callable
from typing import Final

from pydantic_core import ErrorDetails

from fake_plugin.resources.message_limit import MOST_DEVICES
from lab.core.fleet.findings import Finding, KeyPath, pattern, shown
from lab.core.fleet.misspelling import suggestion
from lab.core.fleet.pool_document import FORMS
from lab.core.fleet.scalars import MOST_NODES, PATTERNS

_TYPES: Final = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a mapping",
    "string_type": "text",
}
#: Why a limit is where it is.
_LIMITS: Final = {
    "pools[].count": f"at most {MOST_DEVICES}: the kubelet takes no larger list from a plugin",
    "pools[].nodes": f"at most {MOST_NODES}, as many as Kubernetes supports in a cluster",
    "pools[].sharing.replicas": "at least 2: a device that is offered once is not shared",
    "pools[].load.utilization": "at most 1: a part of the whole, and no percentage",
}


def explained(error: ErrorDetails) -> Finding:
    """Return what one error of pydantic means for the file."""
    path: KeyPath = tuple(part for part in error["loc"] if part not in FORMS)
    explain = _EXPLANATIONS.get(error["type"])
    return explain(path, error) if explain else Finding(path, error["msg"])


def _missing(path: KeyPath, _error: ErrorDetails) -> Finding:
    return Finding(path, "is missing", remedy=f"add {path[-1]}")


def _unknown(path: KeyPath, _error: ErrorDetails) -> Finding:
    key, place = str(path[-1]), pattern(path[:-1])
    return Finding(path, "is not a key of this place", remedy=suggestion(key, place), on_key=True)


def _type(path: KeyPath, error: ErrorDetails) -> Finding:
    value = error["input"]
    quotable = error["type"] == "string_type" and not isinstance(value, list | dict)
    remedy = f'quote it: "{value}"' if quotable else ""
    if quotable and path[-1] in {"at", "every"}:
        remedy = f"give it a unit, as in {value}s"
    return Finding(path, f"is {shown(value)}", f"must be {_TYPES[error['type']]}", remedy)


def _choice(path: KeyPath, error: ErrorDetails) -> Finding:
    # Pydantic says True where a file says true.
    expected = _ctx(error, "expected").replace("True", "true")
    return Finding(path, f"is {shown(error['input'])}", f"must be {expected}")


def _limit(path: KeyPath, error: ErrorDetails) -> Finding:
    at_least = "ge" in error.get("ctx", {})
    limit = _ctx(error, "ge" if at_least else "le")
    plain = f"at least {limit}" if at_least else f"at most {limit}"
    reason = _LIMITS.get(pattern(path), "")
    rule = reason if reason.startswith(plain) else plain
    return Finding(path, f"is {shown(error['input'])}", rule, f"use {limit}")


def _length(path: KeyPath, error: ErrorDetails) -> Finding:
    if error["type"].endswith("_short"):
        return Finding(path, "is empty", "at least one" if path[-1] != "fails" else "some text")
    return Finding(
        path, f"is {shown(error['input'])}", f"at most {_ctx(error, 'max_length')} characters"
    )


def _pattern(path: KeyPath, error: ErrorDetails) -> Finding:
    return Finding(path, f"is {shown(error['input'])}", PATTERNS[_ctx(error, "pattern")])


def _value(path: KeyPath, error: ErrorDetails) -> Finding:
    return Finding(path, f"is {shown(error['input'])}", _ctx(error, "error"))


def _ctx(error: ErrorDetails, key: str) -> str:
    value = error["ctx"][key]
    return f"{value:g}" if isinstance(value, float) else str(value)


_EXPLANATIONS: Final[dict[str, Callable[[KeyPath, ErrorDetails], Finding]]] = {
    **dict.fromkeys(_TYPES, _type),
    "extra_forbidden": _unknown,
    "greater_than_equal": _limit,
    "less_than_equal": _limit,
    "literal_error": _choice,
    "missing": _missing,
    "string_pattern_mismatch": _pattern,
    "string_too_long": _length,
    "string_too_short": _length,
    "too_short": _length,
    "value_error": _value,
}
