"""A pod whose devices are another plugin's."""

from lab.harness.timeline.timeline import Timeline
from tests.unit.harness.timeline.observed import at, journal, pod, running


def test_a_pod_of_a_resource_that_the_lab_does_not_serve_is_told() -> None:
    """It has started, and nothing is known of its devices."""
    theirs = {"other.example.com/device": 1}
    seen = running(resources=(), journal=journal(), pod=pod(limits={"c": theirs}, requests=theirs))
    last = Timeline.of(seen).steps[-1]
    assert (last.outcome, last.moment.at, last.source) == ("done", at(7), "")
