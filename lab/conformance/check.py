"""One check of the contract: what it asks of a plugin, why, and what came of it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar


class OnTrial(Protocol):
    """A plugin, wherever it runs, on which one check is made after the other."""

    def renew(self) -> None:
        """Let the next check have a plugin that nothing was done to."""
        ...

    def end_of_plugin(self) -> str:
        """Return how the plugin ended by itself, with its last words; "" where it runs."""
        ...


Tried = TypeVar("Tried", bound=OnTrial)


class Verdict(StrEnum):
    """What a check came to."""

    PASSED = "passed"
    FAILED = "failed"
    #: The plugin does not offer it, or what it needs did not pass.
    NOT_APPLICABLE = "not-applicable"
    #: Something was in the way that is not the plugin's.
    UNDECIDED = "undecided"


class Failed(Exception):
    """The plugin breaks the contract; the text is what was seen."""


class NotApplicable(Exception):
    """There is nothing to check; the text says why."""


@dataclass(frozen=True)
class Rule:
    """`title` says what a plugin does that keeps it, `why` what breaks where one does not.

    `source` is where to read on: a file of Kubernetes, which is in pkg/kubelet/cm/devicemanager
    where no folder is named, or an issue of a plugin that did not. `needs` are the rules that
    must have been kept, by their IDs.
    """

    id: str
    title: str
    why: str
    source: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check(Generic[Tried]):
    """How a rule is checked on what is tried: a process, or a pod of a cluster.

    `make` returns what was seen, and raises `Failed`, `NotApplicable` or `PluginError`, which is a
    failure in the words of a call.
    """

    rule: Rule
    make: Callable[[Tried], str]


@dataclass(frozen=True)
class Result:
    """What a check came to, and what was seen of the plugin, or why nothing was looked for."""

    rule: Rule
    verdict: Verdict
    seen: str


def check(
    identity: str, title: str, *, why: str, source: str, needs: tuple[str, ...] = ()
) -> Callable[[Callable[[Tried], str]], Check[Tried]]:
    """Make a check of a function."""
    rule = Rule(identity, title, why, source, needs)

    def made(make: Callable[[Tried], str]) -> Check[Tried]:
        return Check(rule, make)

    return made
