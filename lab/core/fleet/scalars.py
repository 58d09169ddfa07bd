"""The single values of a fleet file: which texts and numbers there may be, and why."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema

from fake_plugin.faults.fault import CODES
from fake_plugin.files.mapping import LARGEST
from fake_plugin.resources.naming import broken_rule

#: A cluster of up to 5000 nodes is what Kubernetes says it is built for.
MOST_NODES: Final = 5000

_LABEL: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_SUBDOMAIN: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_DURATION: Final = r"^[1-9][0-9]{0,5}(ms|s|m|h)$"
_DURATION_OR_ZERO: Final = r"^(0|[1-9][0-9]{0,5})(ms|s|m|h)$"
_FAULT_CODE: Final = r"^[0-9A-Fa-f]{8}$"

#: What each pattern means, in words.
PATTERNS: Final = {
    _LABEL: "a DNS label: lower-case letters, digits and '-', a letter or digit at both ends",
    _SUBDOMAIN: "a node's name: DNS labels with dots between, all lower-case",
    _DURATION: "a whole number from 1 to 999999 with a unit: ms, s, m or h, as in 30s",
    _DURATION_OR_ZERO: "a whole number from 0 to 999999 with a unit: ms, s, m or h, as in 5s",
    _FAULT_CODE: "eight hexadecimal digits, as in 80E01801",
}


def _resource_name(name: str) -> str:
    rule = broken_rule(name)
    if rule:
        raise ValueError(rule)
    return name


def _code(name: str) -> str:
    if name not in CODES:
        raise ValueError(f"a code of gRPC: {', '.join(CODES)}")
    return name


def _figure(value: object) -> int | None:
    if value == "unknown":
        return None
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST:
        return value
    raise ValueError(f"a whole number from 1 to {LARGEST}, or unknown")


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


def _cards(value: object) -> tuple[int, ...] | str:
    if value == "all":
        return "all"
    cards = value if isinstance(value, list) else []
    if cards and all(_is_index(card) for card in cards):
        return tuple(cards)
    raise ValueError("all, or a list of the indices of cards, from 0")


Label = Annotated[str, Field(pattern=_LABEL, max_length=63)]
Member = Annotated[str, Field(pattern=_LABEL)]
NodeName = Annotated[str, Field(pattern=_SUBDOMAIN, max_length=253)]
Duration = Annotated[str, Field(pattern=_DURATION)]
DurationOrZero = Annotated[str, Field(pattern=_DURATION_OR_ZERO)]
FaultCode = Annotated[str, Field(pattern=_FAULT_CODE)]
Text = Annotated[str, Field(min_length=1)]
Index = Annotated[int, Field(ge=0, le=LARGEST)]
AtLeastOne = Annotated[int, Field(ge=1, le=LARGEST)]
# The pattern is what an editor can check; the validator is the rule.
ResourceName = Annotated[
    str,
    AfterValidator(_resource_name),
    Field(json_schema_extra={"pattern": r"^[a-z0-9.-]+/[A-Za-z0-9._-]{1,63}$"}),
]
Code = Annotated[str, AfterValidator(_code), Field(json_schema_extra={"enum": [*CODES]})]
#: None is what is not known.
Figure = Annotated[
    int | None,
    PlainValidator(_figure),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"const": "unknown"}]}),
]
Cards = Annotated[
    tuple[int, ...] | str,
    PlainValidator(_cards),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
                {"const": "all"},
            ]
        }
    ),
]
