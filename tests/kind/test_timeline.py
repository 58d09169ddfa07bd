"""What `gpulab timeline` tells of pods on a real cluster: that all parts can be read, and agree."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

import pytest

from tests.kind.machine import Lab, wait_until

RESOURCE: Final = "fake.example.com/device"
ALL_DONE: Final = ["done"] * 9
Step = dict[str, Any]
pytestmark = pytest.mark.usefixtures("pods")


@pytest.fixture
def sound(lab: Lab, pods: None) -> Iterator[None]:
    """Let calls go right again after a test, before its pods go: a call that hangs holds them."""
    del pods
    yield
    lab.machine.gpulab("inject", "clear", "--name", lab.name)


def timeline(lab: Lab, pod: str) -> list[Step]:
    """Return the steps of a pod."""
    ended = lab.machine.gpulab("timeline", pod, "--name", lab.name, "--output", "json")
    assert ended.returncode == 0, ended.stderr
    steps: list[Step] = json.loads(ended.stdout)["steps"]
    return steps


def outcomes(steps: list[Step]) -> list[str]:
    """Return how the steps ended."""
    return [each["outcome"] for each in steps]


def latest(step: Step) -> datetime:
    """Return the latest that a step can have been; a whole second lasts up to the next one."""
    at = datetime.fromisoformat(step["time"])
    return at + timedelta(seconds=1) if step["precision"] == "second" else at


def earliest(step: Step) -> datetime:
    """Return the earliest that it can have been."""
    return datetime.fromisoformat(step["notBefore"] or step["time"])


def fail_allocate(lab: Lab, *effect: str) -> None:
    """Let the next call of Allocate go wrong."""
    rule = ("inject", "fault", "Allocate", "--nth", "1", *effect, "--name", lab.name)
    ended = lab.machine.gpulab(*rule)
    assert ended.returncode == 0, ended.stderr


def test_way_of_a_pod_that_runs_is_known_from_end_to_end(lab: Lab) -> None:
    """Every time is known, and no step can have been before the one that led to it."""
    lab.start_pod("runs", {RESOURCE: 1})
    lab.wait_for_pod("runs")
    device = lab.kubectl("logs", "runs").stdout.strip()
    steps = timeline(lab, "runs")
    assert outcomes(steps) == ALL_DONE
    assert all(earliest(before) <= latest(after) for before, after in pairwise(steps))
    exact = {each["number"] for each in steps if each["precision"] == "millisecond"}
    assert exact >= {1, 2, 3, 6, 7, 8, 9}
    assert steps[5]["detail"]["en"] == f"test: {device}"
    seen = f"test: 1 of 2 devices: GPULAB_VISIBLE_DEVICES={device}"
    assert (steps[8]["detail"]["en"], steps[8]["source"]) == (seen, "pod log")


def test_pod_that_stays_pending_is_told_in_the_schedulers_words(lab: Lab) -> None:
    """What would come after has not come."""
    lab.start_pod("pends", {RESOURCE: 3})
    wait_until(lambda: timeline(lab, "pends")[4]["source"] == "event", "a word of the scheduler")
    steps = timeline(lab, "pends")
    assert outcomes(steps) == ["done"] * 4 + ["waiting"] * 5
    assert f"Insufficient {RESOURCE}" in steps[4]["detail"]["en"]


@pytest.mark.usefixtures("sound")
def test_pod_for_which_allocate_fails_has_the_call_and_the_kubelets_words(lab: Lab) -> None:
    """The call is found, though it names no pod and the pod's status names no device."""
    fail_allocate(lab, "--fails", "device busy")
    lab.start_pod("refused", {RESOURCE: 1})
    wait_until(lambda: "failed" in outcomes(timeline(lab, "refused")), "the refusal")
    steps = timeline(lab, "refused")
    assert outcomes(steps) == ["done"] * 6 + ["failed", "never", "never"]
    assert steps[5]["detail"]["en"].startswith("test: fake-")
    assert steps[6]["precision"] == "millisecond"
    assert "UnexpectedAdmissionError: Pod was rejected" in steps[6]["detail"]["en"]
    assert "device busy" in steps[6]["detail"]["en"]


@pytest.mark.usefixtures("sound")
def test_pod_for_which_allocate_hangs_waits_for_the_answer(lab: Lab) -> None:
    """It was asked for; nothing else in the cluster says that."""
    fail_allocate(lab, "--hang")
    lab.start_pod("hangs", {RESOURCE: 1})
    wait_until(lambda: timeline(lab, "hangs")[5]["outcome"] == "done", "the call")
    steps = timeline(lab, "hangs")
    assert outcomes(steps) == ["done"] * 6 + ["waiting"] * 3
    assert steps[6]["detail"]["en"].startswith("no answer yet (")


def test_plugin_that_was_restarted_since_leaves_bounds(lab: Lab) -> None:
    """What it did for the pod is known by what came of it."""
    lab.start_pod("outlives", {RESOURCE: 1})
    lab.wait_for_pod("outlives")
    before = timeline(lab, "outlives")
    old = lab.plugin_pod()["metadata"]["name"]
    lab.kubectl("delete", "pod", "-n", "kube-system", old, "--wait")
    wait_until(lambda: lab.plugin_pod()["metadata"]["name"] != old, "another plugin")
    again = lab.plugin_pod()["metadata"]["name"]
    lab.kubectl("wait", f"pod/{again}", "-n", "kube-system", "--for=condition=Ready")
    after = timeline(lab, "outlives")
    assert outcomes(after) == ALL_DONE
    assert {each["precision"] for each in (*after[:4], *after[5:7])} == {"bound"}
    assert "the plugin has been restarted since" in after[5]["detail"]["en"]
    for was, now in zip(before, after, strict=True):
        assert earliest(was) <= latest(now), was["number"]
    device = lab.kubectl("logs", "outlives").stdout.strip()
    assert after[8]["detail"]["en"] == f"test: 1 of 2 devices: {device}"
