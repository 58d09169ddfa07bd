"""A mapping of the fleet file whose values are taken strictly, each with the rule it breaks."""

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

import yaml

from fake_plugin.errors import WrongUse

try:
    # A fleet may name thousands of nodes: libyaml takes a tenth of the time where it is there.
    from yaml import CSafeLoader as SafeLoader
except ImportError:
    from yaml import SafeLoader  # type: ignore[assignment]  # the same loader, in Python

__all__ = ["Mapping", "SafeLoader"]

_SHOWN_CHARACTERS: Final = 200
_LARGEST: Final = 2**31 - 1


class _Loader(SafeLoader):
    """YAML without the silent choice of the last where a key stands twice."""

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 - as in the class above
    ) -> dict[Hashable, object]:
        keys: set[str] = set()
        for key, _ in node.value:
            # Other keys, such as lists, are refused below.
            if isinstance(key, yaml.ScalarNode):
                if key.value in keys:
                    raise yaml.YAMLError(f"the key {_cut(key.value)!r} stands twice in one mapping")
                keys.add(key.value)
        return super().construct_mapping(node, deep=deep)


@dataclass(frozen=True)
class Mapping:
    """A mapping in `file` at the dotted path `key`, "" for the top.

    Every method raises `WrongUse` that names file, key and rule where the value is not as asked.
    """

    file: Path
    key: str
    values: dict[str, object]

    @classmethod
    def load(cls, file: Path) -> "Mapping":
        """Return the mapping that the file is."""
        try:
            document = yaml.load(file.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - it is safe
        except OSError as problem:
            raise _wrong(file, "cannot be read", problem.strerror or "") from problem
        except (yaml.YAMLError, ValueError, RecursionError) as problem:
            raise _wrong(file, "is no YAML", str(problem)) from problem
        return cls.of(file, "", document)

    @classmethod
    def of(cls, file: Path, key: str, value: object) -> "Mapping":
        """Return `value` as a mapping whose keys are text."""
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            raise _wrong(file, f"{key or 'as a whole'} must be a mapping", _shown(value))
        return cls(file, key, value)

    def only(self, *known: str) -> None:
        """Refuse every key but these."""
        for name in self.values:
            if name not in known:
                raise _wrong(
                    self.file,
                    f"{self.path(name)} is not something that this plugin acts on",
                    f"keys that it acts on: {', '.join(known)}",
                )

    def text(self, name: str) -> str:
        """Return a text that is not empty."""
        value = self._required(name)
        if not isinstance(value, str) or not value:
            self.refuse(name, "must be text")
        return value

    def number(self, name: str, *, least: int) -> int:
        """Return a whole number from `least` to 2147483647."""
        value = self._required(name)
        # To Python, true is a number.
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _LARGEST:
            self.refuse(name, f"must be a whole number from {least} to {_LARGEST}")
        return value

    def flag(self, name: str) -> bool:
        """Return true or false; false where it is missing."""
        value = self.values.get(name, False)
        if not isinstance(value, bool):
            self.refuse(name, "must be true or false")
        return value

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

    def mappings(self, name: str) -> tuple["Mapping", ...]:
        """Return a list, not empty, of mappings."""
        value = self._required(name)
        if not isinstance(value, list) or not value:
            self.refuse(name, "must be a list with at least one entry")
        return tuple(
            Mapping.of(self.file, f"{self.path(name)}[{index}]", entry)
            for index, entry in enumerate(value)
        )

    def refuse(self, name: str, rule: str) -> NoReturn:
        """Raise for the value of `name`, which breaks `rule`."""
        raise _wrong(self.file, f"{self.path(name)} {rule}", _shown(self.values.get(name)))

    def path(self, name: str) -> str:
        """Return the dotted path of a key of this mapping."""
        return f"{self.key}.{name}" if self.key else name

    def _required(self, name: str) -> object:
        if name not in self.values:
            present = _cut(", ".join(self.values)) or "none"
            raise _wrong(
                self.file, f"{self.path(name)} is missing", f"keys that are there: {present}"
            )
        return self.values[name]


def _wrong(file: Path, what: str, seen: str) -> WrongUse:
    remedy = "correct the file; `gpulab` checks it with line and column"
    return WrongUse(f"the fleet file: {what}", where=str(file), seen=seen, remedy=remedy)


def _shown(value: object) -> str:
    try:
        return _cut(repr(value))
    except ValueError:
        # Python writes no number out that has more digits than 4300.
        return "a number of thousands of digits"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
