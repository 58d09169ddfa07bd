"""A mapping, of the fleet file or else, taken strictly: what is wrong is named, with its rule."""

import re
from collections.abc import Mapping as Mapping_
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, NoReturn, Self, TypeGuard, TypeVar

from fake_plugin.errors import WrongUse
from fake_plugin.files.document import UNREADABLE, read_document, why_unreadable
from fake_plugin.shortening import cut

_SHOWN_CHARACTERS: Final = 200
#: What every number of a file may be at most.
LARGEST: Final = 2**31 - 1
_DURATION: Final = re.compile(r"(?P<number>0|[1-9][0-9]{0,5})(?P<unit>ms|s|m|h)", re.ASCII)
_MILLISECONDS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}

T = TypeVar("T")


@dataclass(frozen=True)
class Mapping:
    """A mapping in `file` at the dotted path `key`, "" for the top.

    Every method raises `WrongUse` that names file, key and rule where the value is not as asked.
    """

    file: Path
    key: str
    values: dict[str, object]

    #: How the errors begin, what they call the whole of it, and what to do: others have their own.
    noun: ClassVar[str] = "the fleet file: "
    whole: ClassVar[str] = "the file"
    remedy: ClassVar[str] = "correct the file; `gpulab` checks it with line and column"

    @classmethod
    def load(cls, file: Path) -> Self:
        """Return the mapping that the file is."""
        try:
            document = read_document(file.read_text(encoding="utf-8"))
        except OSError as problem:
            raise cls.wrong(file, "cannot be read", problem.strerror or "") from problem
        except UNREADABLE as problem:
            raise cls.wrong(file, "is no YAML", why_unreadable(problem)) from problem
        return cls.of(file, "", document)

    @classmethod
    def of(cls, file: Path, key: str, value: object) -> Self:
        """Return `value` as a mapping whose keys are text."""
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            raise cls.wrong(file, f"{key or 'as a whole'} must be a mapping", _shown(value))
        return cls(file, key, value)

    def only(self, *known: str) -> None:
        """Refuse every key but these."""
        for name in self.values:
            if name not in known:
                raise self.wrong(
                    self.file,
                    f"{self.path(name)} is not something that this plugin acts on",
                    f"keys that it acts on: {', '.join(known)}",
                )

    def required(self, name: str) -> object:
        """Return the value of a key, whatever it is."""
        if name not in self.values:
            present = cut(", ".join(self.values), _SHOWN_CHARACTERS) or "none"
            raise self.wrong(
                self.file, f"{self.path(name)} is missing", f"keys that are there: {present}"
            )
        return self.values[name]

    def one_of(self, *names: str) -> str:
        """Return the one of these keys that is there."""
        given = [name for name in names if name in self.values]
        if len(given) != 1:
            what = f"has {' and '.join(given)}" if given else "has none of them"
            rule = f"needs exactly one of {', '.join(names)}"
            raise self.wrong(self.file, f"{self.path('')} {rule}", what)
        return given[0]

    def text(self, name: str) -> str:
        """Return a text that is not empty."""
        value = self.required(name)
        if not isinstance(value, str) or not value:
            self.refuse(name, "must be text")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a text that is not empty, or None where it is missing."""
        return self.text(name) if name in self.values else None

    def choice(self, name: str, choices: Mapping_[str, T], default: T | None = None) -> T:
        """Return what one of the texts stands for; `default`, if any, where it is missing."""
        if name not in self.values and default is not None:
            return default
        return self._chosen(name, self.required(name), choices)

    def some(self, name: str, choices: Mapping_[str, T], default: tuple[T, ...]) -> tuple[T, ...]:
        """Return what a text, or each of a list of texts, stands for; `default` without any."""
        value = self.values.get(name, [])
        texts = value if isinstance(value, list) else [value]
        return tuple(self._chosen(name, text, choices) for text in texts) or default

    def _chosen(self, name: str, text: object, choices: Mapping_[str, T]) -> T:
        if not isinstance(text, str) or text not in choices:
            self.refuse(name, f"must be one of {', '.join(choices)}")
        return choices[text]

    def number(
        self, name: str, *, least: int, most: int = LARGEST, default: int | None = None
    ) -> int:
        """Return a whole number; `default`, if there is one, where it is missing."""
        if name not in self.values and default is not None:
            return default
        value = self.required(name)
        if not _is_whole(value) or not least <= value <= most:
            self.refuse(name, f"must be a whole number from {least} to {most}")
        return value

    def optional_number(self, name: str, *, least: int) -> int | None:
        """Return a whole number as `number` does, or None where it is missing."""
        return self.number(name, least=least) if name in self.values else None

    def figure(self, name: str) -> int | None:
        """Return a whole number from 1, or None where it is missing or `unknown`."""
        known = self.values.get(name, "unknown") != "unknown"
        return self.number(name, least=1) if known else None

    def fraction(self, name: str) -> float:
        """Return a number from 0 to 1."""
        value = self.required(name)
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
            self.refuse(name, "must be a number from 0 to 1")
        return float(value)

    def duration(self, name: str, *, or_zero: bool = False) -> float:
        """Return seconds from a text such as 500ms, 30s, 5m or 1h."""
        value = self.required(name)
        found = _DURATION.fullmatch(value) if isinstance(value, str) else None
        if found is None or not (or_zero or int(found["number"])):
            span = "0 to 999999" if or_zero else "1 to 999999"
            self.refuse(name, f"must be a whole number from {span}, then ms, s, m or h")
        return int(found["number"]) * _MILLISECONDS[found["unit"]] / 1000

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return true or false; `default` where it is missing."""
        value = self.values.get(name, default)
        if not isinstance(value, bool):
            self.refuse(name, "must be true or false")
        return value

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """Return a list of whole numbers from 0, or None where it is missing."""
        if name not in self.values:
            return None
        value = self.values[name]
        if not isinstance(value, list) or not all(
            _is_whole(each) and 0 <= each <= LARGEST for each in value
        ):
            self.refuse(name, f"must be a list of whole numbers from 0 to {LARGEST}")
        return tuple(value)

    def mapping(self, name: str) -> Self | None:
        """Return the mapping at a key, or None where it is missing."""
        if name not in self.values:
            return None
        return self.of(self.file, self.path(name), self.values[name])

    def texts(self, name: str) -> tuple[str, ...] | None:
        """Return a list of different texts, or None where it is missing."""
        if name not in self.values:
            return None
        value = self.values[name]
        if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
            self.refuse(name, "must be a list of names")
        if len(set(value)) < len(value):
            self.refuse(name, "must not name anything twice")
        return tuple(value)

    def mappings(self, name: str, *, least: int = 1) -> tuple[Self, ...]:
        """Return a list of mappings; it may be missing where `least` is 0."""
        value = self.required(name) if least else self.values.get(name, [])
        if not isinstance(value, list) or len(value) < least:
            entry = " with at least one entry" if least else ""
            self.refuse(name, f"must be a list{entry}")
        return tuple(
            self.of(self.file, f"{self.path(name)}[{index}]", entry)
            for index, entry in enumerate(value)
        )

    @classmethod
    def wrong(cls, file: Path, what: str, seen: str) -> WrongUse:
        """Return the error for something that is wrong with a file."""
        return WrongUse(f"{cls.noun}{what}", where=str(file), seen=seen, remedy=cls.remedy)

    def refuse(self, name: str, rule: str) -> NoReturn:
        """Raise for the value of `name`, which breaks `rule`."""
        seen = _shown(self.values[name]) if name in self.values else ""
        raise self.wrong(self.file, f"{self.path(name)} {rule}", seen)

    def path(self, name: str) -> str:
        """Return the dotted path of a key of this mapping, or of itself."""
        if not name:
            return self.key or self.whole
        name = cut(name, _SHOWN_CHARACTERS)
        return f"{self.key}.{name}" if self.key else name


def _is_whole(value: object) -> TypeGuard[int]:
    # To Python, true is a number.
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: object) -> str:
    try:
        return cut(repr(value), _SHOWN_CHARACTERS)
    except ValueError:
        # Python writes no number out that has more digits than 4300.
        return "a number of thousands of digits"
