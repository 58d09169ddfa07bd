"""A timeline that was kept as JSON, read back so that it can be drawn."""

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import AwareDatetime, Field, JsonValue, TypeAdapter

from lab.harness.timeline.moment import Moment, Precision
from lab.harness.timeline.phrase import Phrase
from lab.harness.timeline.step import KINDS, Outcome, Source, Step
from lab.harness.timeline.timeline import Timeline


@dataclass(frozen=True)
class _StoredStep:
    number: Annotated[int, Field(ge=1, le=len(KINDS))]
    outcome: Outcome
    precision: Precision
    time: AwareDatetime | None
    not_before: Annotated[AwareDatetime | None, Field(alias="notBefore")]
    detail: Phrase
    source: Source

    def step(self) -> Step:
        moment = Moment(self.precision, self.time, self.not_before)
        return Step(self.number, self.outcome, moment, self.detail, self.source)


@dataclass(frozen=True)
class _StoredTimeline:
    namespace: str
    pod: str
    phase: str
    node: str
    asks: dict[str, int]
    observed: AwareDatetime
    steps: tuple[_StoredStep, ...]


_STORED: Final = TypeAdapter(_StoredTimeline)


def timeline_from(found: JsonValue) -> Timeline:
    """Return the timeline whose `as_json` this is; raises `ValidationError` for that of none."""
    stored = _STORED.validate_python(found)
    return Timeline(
        stored.namespace,
        stored.pod,
        stored.phase,
        stored.node,
        tuple(stored.asks.items()),
        stored.observed,
        tuple(each.step() for each in stored.steps),
    )
