"""How parsed JSON or YAML is walked: by tables of fields, to every violation and not the first.

A check is a function from a value and its path to findings: what is wrong with it, and which
version of CDI brought what it uses.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from fake_plugin.shortening import cut


@dataclass(frozen=True)
class Violation:
    """One broken rule: its fixed name, where, as `devices[0].name`, and a sentence on it."""

    rule: str
    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path or 'the spec'}: {self.what} [{self.rule}]"


@dataclass(frozen=True)
class Use:
    """Something that is there from `version` of CDI on."""

    version: str
    path: str


Finding: TypeAlias = Violation | Use
Check: TypeAlias = Callable[[object, str], Iterator[Finding]]
#: Returns the rule that a text breaks, as a sentence.
TextRule: TypeAlias = Callable[[str], str | None]


@dataclass(frozen=True)
class Field:
    """What may stand under one key; `since` counts where `uses` says yes to the value."""

    check: Check
    required: bool = False
    since: str = ""
    uses: Callable[[object], bool] = bool


@dataclass(frozen=True)
class Shape:
    """A mapping with these keys and no others; `whole` checks what is between its fields."""

    fields: Mapping[str, Field]
    whole: Callable[[dict[str, object], str], Iterator[Finding]] = field(
        default=lambda _values, _path: iter(())
    )


def one(shape: Shape) -> Check:
    """Return the check of a mapping of that shape."""

    def check(value: object, path: str) -> Iterator[Finding]:
        if not isinstance(value, dict):
            yield _wrong_type(value, path, "a mapping")
            return
        for key, each in value.items():
            known = shape.fields.get(key) if isinstance(key, str) else None
            if known is None:
                names = ", ".join(shape.fields)
                yield Violation("unknown-field", at(path, str(key)), f"is none of {names}")
            else:
                yield from _field(known, each, at(path, key))
        for key, known in shape.fields.items():
            if known.required and key not in value:
                yield Violation("missing-field", at(path, key), "is missing")
        yield from shape.whole(value, path)

    return check


def several(element: Check) -> Check:
    """Return the check of a list."""

    def check(value: object, path: str) -> Iterator[Finding]:
        if not isinstance(value, list):
            yield _wrong_type(value, path, "a list")
            return
        for index, each in enumerate(value):
            yield from element(each, f"{path}[{index}]")

    return check


def text(rule: str = "", broken: TextRule = lambda _text: None) -> Check:
    """Return the check of a text that `broken` may object to, under the name `rule`."""

    def check(value: object, path: str) -> Iterator[Finding]:
        if not isinstance(value, str) or not _is_unicode(value):
            yield _wrong_type(value, path, "text")
        elif sentence := broken(value):
            yield Violation(rule, path, f"{shown(value)} {sentence}")

    return check


def number(least: int, most: int) -> Check:
    """Return the check of a whole number."""

    def check(value: object, path: str) -> Iterator[Finding]:
        # To Python, true is a number.
        if not isinstance(value, int) or isinstance(value, bool):
            yield _wrong_type(value, path, "a whole number")
        elif not least <= value <= most:
            yield Violation("range", path, f"{value} must be from {least} to {most}")

    return check


def flag(value: object, path: str) -> Iterator[Finding]:
    """Check that a value is true or false."""
    if not isinstance(value, bool):
        yield _wrong_type(value, path, "true or false")


def at(path: str, key: str) -> str:
    """Return the path of a key below `path`."""
    return f"{path}.{key}" if path else key


def shown(value: object) -> str:
    """Return a value as an error shows it: short."""
    return cut(repr(value))


def _field(known: Field, value: object, path: str) -> Iterator[Finding]:
    if known.since and known.uses(value):
        yield Use(known.since, path)
    yield from known.check(value, path)


def _wrong_type(value: object, path: str, wanted: str) -> Violation:
    return Violation("type", path, f"{shown(value)} must be {wanted}")


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
