"""A scenario: a function of a lab that shows one thing that clusters do with devices.

The same function is a test, a demonstration and the check of an exercise. What it takes is in its
decorator; why it is so, and what a reader is to learn by it, in its docstring and in `zh_why`.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lab.core.language import Language
from lab.harness.lacking import NEEDS, Need

if TYPE_CHECKING:
    from lab.harness.lab import Lab

Body = Callable[["Lab"], None]

#: A scenario that takes longer has its end set by hand.
_DEADLINE_SECONDS: Final = 240.0


@dataclass(frozen=True)
class Scenario:
    """One scenario.

    `section` is the chapter's, such as `4.10.5`. `fleet` is the name of a file in scenarios/fleets.
    `needs` are what a backend must be able to do to a node, or what a cluster must have. `deadline`
    is in seconds; `slow` says that a rule of Kubernetes takes minutes of it. `erratum` is the
    number in the list of what the chapter has wrong, 0 for none.
    """

    name: str
    body: Body
    section: str
    fleet: str
    titles: Mapping[Language, str]
    reasons: Mapping[Language, str]
    tags: frozenset[str]
    needs: frozenset[Need]
    deadline: float
    slow: bool
    erratum: int

    def title(self, language: Language = "en") -> str:
        """Return its title in a language."""
        return self.titles[language]


def scenario(  # noqa: PLR0913 - each is one thing to say of a scenario
    *,
    section: str,
    en: str,
    zh: str,
    zh_why: str,
    fleet: str = "chapter",
    tags: tuple[str, ...] = (),
    needs: tuple[Need, ...] = (),
    deadline: float = _DEADLINE_SECONDS,
    slow: bool = False,
    erratum: int = 0,
) -> Callable[[Body], Scenario]:
    """Make a scenario of a function; its docstring is the English explanation.

    Raises `ValueError` where something of it is missing or unknown.
    """

    def made(body: Body) -> Scenario:
        why = inspect.getdoc(body) or ""
        for what, text in (("a docstring", why), ("en", en), ("zh", zh), ("zh_why", zh_why)):
            if not text.strip():
                raise ValueError(f"the scenario {body.__name__} lacks {what}")
        unknown = set(needs).difference(NEEDS)
        if unknown:
            raise ValueError(f"the scenario {body.__name__} needs {', '.join(sorted(unknown))}")
        return Scenario(
            body.__name__,
            body,
            section,
            fleet,
            {"en": en, "zh": zh},
            {"en": why, "zh": inspect.cleandoc(zh_why)},
            frozenset(tags),
            frozenset(needs),
            deadline,
            slow,
            erratum,
        )

    return made
