"""Draws the pictures of the page about timelines: `python -m tests.unit.harness.timeline.pictures`.

They are of pods that are made up, so that they are the same each time.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from lab.harness.timeline.observation import Observation
from lab.harness.timeline.picture import picture
from lab.harness.timeline.timeline import Timeline
from tests.unit.harness.timeline.observed import (
    CONTAINER,
    GPU,
    OFFERED,
    SCHEDULED,
    allocate,
    event,
    journal,
    node,
    pod,
    running,
)

_FOLDER: Final = Path(__file__).parents[4] / "docs" / "explanation"
_ID: Final = "fake-a6ee28e4-9827-5ef9-8478-52d9d8055be4"
_NAME: Final = "test"
_WORDS: Final = (
    "Pod was rejected: Allocate failed due to rpc error: code = Unknown desc = device busy, "
    "which is unexpected"
)


def pod_that_runs() -> Observation:
    """Return the chapter's pod, with one of two devices."""
    holding = replace(CONTAINER, name=_NAME, devices={GPU: (_ID,)})
    return running(
        name="gpu-test-pod",
        pod=pod(limits={_NAME: {GPU: 1}}, containers=(holding,)),
        node_status=node(heard=2),
        events=(SCHEDULED, event("Created", 5.816), event("Started", 5.95)),
        journal=journal(*OFFERED, allocate(3, 5.196, _ID)),
        pod_logs={_NAME: _ID},
    )


def pod_that_is_not_let_in() -> Observation:
    """Return a pod for which Allocate fails."""
    reason = "UnexpectedAdmissionError"
    refused = allocate(3, 5.196, _ID, code="UNKNOWN", fault="rule-1")
    failed = pod(
        phase="Failed",
        reason=reason,
        message=_WORDS,
        limits={_NAME: {GPU: 1}},
        containers=(),
    )
    return replace(
        pod_that_runs(),
        name="gpu-refused",
        pod=failed,
        events=(SCHEDULED, event(reason, 5.21)),
        journal=journal(*OFFERED, refused),
        pod_logs={},
    )


def documents() -> Iterator[tuple[Path, str]]:
    """Yield the files, and what is to be in them."""
    pods = {"timeline": pod_that_runs(), "timeline-refused": pod_that_is_not_let_in()}
    for name, seen in pods.items():
        timeline = Timeline.of(seen)
        yield _FOLDER / f"{name}.svg", picture(timeline, "en")
        yield _FOLDER / f"{name}.zh-CN.svg", picture(timeline, "zh")


if __name__ == "__main__":
    for file, document in documents():
        file.write_text(document, encoding="utf-8")
