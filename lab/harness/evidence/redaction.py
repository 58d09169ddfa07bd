"""What is taken out of everything that is kept: secrets, and what only machines read."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from lab.harness.evidence.named import REMOVED, is_plain, without_named
from lab.harness.evidence.names import is_secret
from lab.harness.evidence.shapes import without_shapes

#: `kubectl apply` keeps a copy of the whole object there, its secrets with it.
_COPIES: Final = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})
_NOISE: Final = frozenset({"managedFields"})
_OPTION: Final = re.compile(r"--?[\w.-]+")
_ASSIGNED: Final = re.compile(rf"(?P<sign>(?P<name>{_OPTION.pattern})=)(?P<value>.*)", re.DOTALL)


def redacted_text(text: str, secrets: Iterable[str]) -> str:
    """Return a text without these secrets, and without what looks like one or has the name of one.

    What it returns it leaves as it is. Its time is in proportion to the text.
    """
    for each in secrets:
        if each:
            text = text.replace(each, REMOVED)
    return without_named(without_shapes(text, REMOVED))


def redacted_json(found: Any, secrets: Iterable[str]) -> Any:  # noqa: ANN401 - any JSON
    """Return what `redacted_text` makes of every text in some JSON.

    Values whose names tell that they are secret go as a whole: of a key, of a container's variable,
    of an option before them. So does what only machines read.
    """
    return _Redaction(tuple(secrets)).of(found)


class _Redaction:
    def __init__(self, secrets: tuple[str, ...]) -> None:
        self._secrets = secrets

    def of(self, found: Any) -> Any:  # noqa: ANN401 - any JSON
        match found:
            case {"name": str(name), "value": str(value), **rest} if is_secret(name):
                return {"name": name, "value": self._hidden(name, value), **self.of(rest)}
            case dict():
                return {
                    self._text(key): self._value(key, value)
                    for key, value in found.items()
                    if key not in _NOISE
                }
            case list() | tuple():
                return [*self._listed(found)]
            case str():
                return self._text(found)
            case _:
                return found

    def _value(self, key: str, value: Any) -> Any:  # noqa: ANN401 - any JSON
        if key in _COPIES:
            return REMOVED
        if not is_secret(key):
            return self.of(value)
        match value:
            case str():
                return self._hidden(key, value)
            case list():
                return [
                    self._hidden(key, each) if isinstance(each, str) else self.of(each)
                    for each in value
                ]
            case _:
                return self.of(value)

    def _listed(self, found: Iterable[Any]) -> Iterator[Any]:
        """Yield the values of a list, which may be the words of a command."""
        option = ""
        for each in found:
            if not isinstance(each, str):
                yield self.of(each)
            elif option and not each.startswith("-"):
                yield self._hidden(option, each)
            elif (assigned := _ASSIGNED.fullmatch(each)) and is_secret(assigned["name"]):
                yield assigned["sign"] + self._hidden(assigned["name"], assigned["value"])
            else:
                yield self._text(each)
            is_option = isinstance(each, str) and _OPTION.fullmatch(each) and is_secret(each)
            option = each if is_option else ""

    def _hidden(self, name: str, value: str) -> str:
        return self._text(value) if is_plain(name, value) else REMOVED

    def _text(self, text: str) -> str:
        return redacted_text(text, self._secrets)
