"""One check of the contract: what it asks of a plugin, why, and what came of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.conformance.trial import Trial


class Verdict(StrEnum):
    """What a check came to."""

    PASSED = "passed"
    FAILED = "failed"
    #: The plugin does not offer it, or what it needs did not pass.
    NOT_APPLICABLE = "not-applicable"


class Failed(Exception):
    """The plugin breaks the contract; the text is what was seen."""


class NotApplicable(Exception):
    """There is nothing to check; the text says why."""


@dataclass(frozen=True)
class Check:
    """`title` says what a plugin does that passes, `why` what breaks where it does not.

    `source` is where to read on: a file of Kubernetes, which is in pkg/kubelet/cm/devicemanager
    where no folder is named, or an issue of a plugin that did not. `needs` are the checks that
    must have passed. `make` returns what was seen, and raises `Failed`, `NotApplicable` or
    `PluginError`, which is a failure in the words of a call.
    """

    id: str
    title: str
    why: str
    source: str
    make: "Callable[[Trial], str]"
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """What a check came to, and what was seen of the plugin, or why nothing was looked for."""

    check: Check
    verdict: Verdict
    seen: str


def check(
    identity: str, title: str, *, why: str, source: str, needs: tuple[str, ...] = ()
) -> "Callable[[Callable[[Trial], str]], Check]":
    """Make a check of a function."""

    def made(make: "Callable[[Trial], str]") -> Check:
        return Check(identity, title, why, source, make, needs)

    return made
