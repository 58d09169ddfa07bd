"""A timeline as lines of plain text, the same on a terminal and in a pipe."""

from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len, set_cell_size

from lab.core.language import Language
from lab.harness.timeline.step import Step
from lab.harness.timeline.timeline import Timeline
from lab.harness.timeline.width import wrapped
from lab.harness.timeline.words import ACTORS, MARKS, OUTCOMES, PRECISION, SOURCES, headline

_WIDTH: Final = 100
_INDENT: Final = " " * 4


def lines(timeline: Timeline, language: Language) -> Iterator[str]:
    """Yield the lines: who did what and when, below it what came of it and where that is told."""
    yield headline(timeline).text(language)
    yield f"{timeline.day.date()}: {PRECISION.text(language)}"
    yield ""
    times = [each.moment.text(timeline.day) for each in timeline.steps]
    actors = [_actors(each, language) for each in timeline.steps]
    for step, time, actor in zip(timeline.steps, times, actors, strict=True):
        parts = (
            f"{MARKS[step.outcome]} {step.number}",
            set_cell_size(time, max(map(cell_len, times))),
            set_cell_size(actor, max(map(cell_len, actors))),
            step.kind.title.text(language),
        )
        yield "  ".join(parts)
        for line in wrapped(_below(step, language), _WIDTH - len(_INDENT)):
            yield _INDENT + line


def _actors(step: Step, language: Language) -> str:
    kind = step.kind
    names = (ACTORS[each].text(language) for each in dict.fromkeys((kind.actor, kind.to)))
    return " → ".join(names)


def _below(step: Step, language: Language) -> str:
    """Return what there is to say of a step, and how it stands where it was not done."""
    outcome = "" if step.outcome == "done" else OUTCOMES[step.outcome].text(language)
    said = (": " if language == "en" else "：").join(
        filter(None, (outcome, step.detail.text(language)))
    )
    source = SOURCES[step.source].text(language)
    return " ".join(filter(None, (said, f"[{source}]" if source else "")))
