"""Timelines that are read back from JSON."""

import json
from typing import Any

import pytest

from lab.harness.timeline.observation import Observation
from lab.harness.timeline.picture import picture
from lab.harness.timeline.stored import timeline_from
from lab.harness.timeline.text import lines
from lab.harness.timeline.timeline import Timeline
from tests.unit.harness.timeline.observed import IDS, allocate, pending, rejected, running

REFUSED = rejected((allocate(3, 5.2, IDS[0], code="UNKNOWN"),), "device busy")


@pytest.mark.parametrize("seen", [running(), pending(), REFUSED])
def test_what_was_kept_is_drawn_as_it_was(seen: Observation) -> None:
    """Neither the text nor the picture tells whether a timeline was kept in between."""
    fresh = Timeline.of(seen)
    kept = timeline_from(json.loads(json.dumps(fresh.as_json())))
    assert [*lines(kept, "zh")] == [*lines(fresh, "zh")]
    assert picture(kept, "en") == picture(fresh, "en")
    assert kept.as_json() == fresh.as_json()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("number", 0),
        ("number", 10),
        ("outcome", "well"),
        ("precision", "hour"),
        ("source", "hearsay"),
        ("time", "2026-12-01T12:00:00"),
        ("detail", "in no language"),
    ],
)
def test_what_is_no_timeline_is_refused(key: str, value: object) -> None:
    """By the key that is wrong: a picture of it would show what nobody saw."""
    found: Any = Timeline.of(running()).as_json()
    found["steps"][3][key] = value
    with pytest.raises(ValueError, match=rf"steps\.3\.{key}"):
        timeline_from(found)


@pytest.mark.parametrize("found", [None, [], {"pod": "p", "steps": []}])
def test_something_else_is_refused(found: Any) -> None:  # noqa: ANN401 - any JSON
    """As it may be in a file that was made by hand."""
    with pytest.raises(ValueError, match="_StoredTimeline"):
        timeline_from(found)
