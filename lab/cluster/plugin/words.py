"""What is asked of a plugin in words, and taken by the rules by which the plugin reads them."""

from collections.abc import Iterator, Sequence
from collections.abc import Mapping as AnyMapping
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Final, Self

from fake_plugin.errors import WrongUse
from fake_plugin.files.mapping import Mapping
from lab.core.errors import UsageError

_NOWHERE: Final = Path()


class GiveOne(UsageError):
    """Of some words one is to be given, and it was none of them, or several."""

    def __init__(self, words: tuple[str, ...], given: tuple[str, ...]) -> None:
        seen = f"given: {', '.join(given) or 'none'}"
        super().__init__(self.rule(words), seen=seen, remedy="nothing was changed")
        self.words = words

    @staticmethod
    def rule(words: Sequence[str]) -> str:
        """Return what is asked for, in the words as somebody spells them."""
        return f"give one of {', '.join(words[:-1])} and {words[-1]}"


class Words(Mapping):
    """Words by their keys, those of the fleet file; its methods raise `WrongUse`."""

    noun: ClassVar[str] = ""
    remedy: ClassVar[str] = "correct it; nothing was changed"

    @classmethod
    def given(cls, words: AnyMapping[str, object]) -> Self:
        """Return those that are given: not None, and not a flag that is off."""
        said = {key: value for key, value in words.items() if value is not None}
        return cls(_NOWHERE, "", {key: value for key, value in said.items() if value is not False})

    def one_of(self, *names: str) -> str:
        """Return the one of these keys that is there; raises `GiveOne`."""
        given = tuple(name for name in names if name in self.values)
        if len(given) != 1:
            raise GiveOne(names, given)
        return given[0]


@contextmanager
def by_the_rules() -> Iterator[None]:
    """Raise `UsageError` for a rule that is broken inside, as the plugin would name it."""
    try:
        yield
    except WrongUse as problem:
        # All that it says is said again.
        raise UsageError(problem.what, seen=problem.seen, remedy=problem.remedy) from None


def seconds(text: str) -> float:
    """Return the time that a text such as 500ms or 5s says; raises `UsageError`."""
    with by_the_rules():
        return Words.given({repr(text): text}).duration(repr(text), or_zero=True)
