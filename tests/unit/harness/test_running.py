"""A scenario's deadline, and the lab that has to be afterwards as it was before."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.cluster.advice import Advice
from lab.core.errors import CheckFailed, Interrupted, TimedOut, UsageError
from lab.core.fleet import Fleet
from lab.harness.lab import Lab
from lab.harness.running import as_it_was, within_deadline
from lab.harness.scenario import Scenario, scenario
from lab.harness.sight import MET, NotYet
from tests.unit.harness.cluster import GPU, Cluster, a_pod, running

if TYPE_CHECKING:
    from lab.install.status import RunningLab

Body = Callable[[Lab], None]


def a_plugin(cluster: Cluster, **facts: Any) -> None:  # noqa: ANN401 - any field of a Pod
    """Let the node have a plugin that is ready, or so."""
    plugin = replace(a_pod("plugin"), node="w", phase="Running", containers=(running(),))
    cluster.plugins.put(replace(plugin, **facts), "plugin", "kube-system")


@pytest.fixture
def lab(cluster: Cluster) -> Lab:
    """Return a lab on the cluster: one node of eight devices, and its plugin."""
    cluster.node()
    a_plugin(cluster)
    record = SimpleNamespace(name="t")
    connection = SimpleNamespace(advice=Advice("t", "kind", Path("/kubeconfig")))
    client = SimpleNamespace(connection=connection)
    found = cast("RunningLab", SimpleNamespace(record=record, client=client))
    return Lab(found, Fleet.default().placed_on(("w",)), "ns", cluster.view)


def a_scenario(body: Body, deadline: float = 60) -> Scenario:
    """Return a scenario with this body."""

    def lesson(lab: Lab) -> None:
        """Show that it is so."""
        body(lab)

    made = scenario(section="4.1", en="It is so", zh="就是这样", zh_why="就是这样。")(lesson)
    return replace(made, deadline=deadline)


def test_an_error_of_the_scenario_is_the_error(lab: Lab) -> None:
    """Though it was raised in another thread."""

    def body(_: Lab) -> None:
        raise CheckFailed("not so")

    with pytest.raises(CheckFailed, match="not so"):
        within_deadline(a_scenario(body), lab)


@pytest.mark.parametrize("error", [ValueError("not so"), SystemExit(0), AssertionError("not so")])
def test_any_other_error_is_a_failure_of_the_scenario(lab: Lab, error: BaseException) -> None:
    """With the line that it came from: it ends neither the run nor the program."""

    def lesson(_: Lab) -> None:
        """Show that it is so."""
        raise error

    made = scenario(section="4.1", en="It is so", zh="就是这样", zh_why="就是这样。")(lesson)
    with pytest.raises(CheckFailed) as raised:
        within_deadline(made, lab)
    assert raised.value.what == f"the scenario 'lesson' ended by {type(error).__name__}"
    assert raised.value.where.startswith(f"{__file__}:")
    assert raised.value.where.endswith(": raise error")
    assert raised.value.seen == f"{type(error).__name__}: {error}"
    assert raised.value.commands == ("gpulab run lesson --name t",)
    assert raised.value.__cause__ is error


def test_a_wait_that_does_not_end_is_ended(lab: Lab) -> None:
    """At the deadline, and the report says at which line."""
    ended = threading.Event()

    def body(lab: Lab) -> None:
        try:
            lab.view.until(lambda: NotYet("nothing"), 1e9)
        finally:
            # What it does at its end is not done to the next test's lab.
            threading.Event().wait(0.2)
            ended.set()

    with pytest.raises(TimedOut) as raised:
        within_deadline(a_scenario(body, deadline=0.3), lab)
    assert ended.is_set()
    assert raised.value.what == "the scenario 'lesson' did not end within 0.3 s"
    assert raised.value.where.startswith(f"{__file__}:")
    assert raised.value.where.endswith('lab.view.until(lambda: NotYet("nothing"), 1e9)')
    assert raised.value.commands == ("gpulab run lesson --name t",)


def test_a_scenario_that_goes_on_after_its_end_does_nothing_more(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hung where no wait of the lab's could be ended; the lab is another test's by then."""
    monkeypatch.setattr("lab.harness.running._ENDING_SECONDS", 0.1)
    goes_on, over = threading.Event(), threading.Event()
    told: list[str] = []

    def body(lab: Lab) -> None:
        goes_on.wait(20)
        for act in (lambda: lab.view.until(lambda: MET, 5), lambda: lab.node().plugin):
            try:
                act()
            except (Interrupted, UsageError) as error:
                told.append(error.what)
        over.set()

    with pytest.raises(TimedOut) as raised, as_it_was(lab):
        within_deadline(a_scenario(body, deadline=0.1), lab)
    assert raised.value.where.endswith("goes_on.wait(20)")
    goes_on.set()
    assert over.wait(20)
    assert told == ["told to end", "the test that this lab was handed to is over"]


def test_waits_after_the_deadline_go_on(lab: Lab) -> None:
    """What is to be undone is waited for, too."""
    with pytest.raises(TimedOut):
        within_deadline(
            a_scenario(lambda lab: ignore(lab.view.until(lambda: NotYet(""), 1e9)), 0.3), lab
        )
    assert not lab.view.until(lambda: NotYet("still"), 5).is_met


def ignore(_: object) -> None:
    """Do nothing with what was returned."""


def test_what_was_done_is_undone(lab: Lab, cluster: Cluster) -> None:
    """The latest first, each once."""
    undone: list[str] = []
    with as_it_was(lab):
        lab.afterwards.once("clear", "w", undo=lambda: undone.append("clear"))
        lab.afterwards.once("taint", "w", undo=lambda: undone.append("taint"))
        lab.afterwards.once("clear", "w", undo=lambda: undone.append("again"))
    assert undone == ["taint", "clear"]
    assert cluster.clock.now() == 0


def test_a_node_that_a_test_has_lost_is_not_waited_for(lab: Lab, cluster: Cluster) -> None:
    """What was undone has not brought it back; one that was lost before is no matter."""
    cluster.node("dead", ready=False, lost=True)
    cluster.clock.at(7, lambda: cluster.node(ready=False, lost=True))
    with pytest.raises(CheckFailed) as raised, as_it_was(lab):
        cluster.node(ready=False)
    assert raised.value.what == "the lab is not as it was before, 7 s after the test"
    assert raised.value.seen == "w: ready was True, and is False"
    assert raised.value.commands[0] == "docker ps --all --filter 'name=^w$'"


def test_a_lab_that_is_left_as_it_is_is_not_looked_at(lab: Lab, cluster: Cluster) -> None:
    """Somebody wants to see what the test has made of it."""
    undone: list[str] = []
    with as_it_was(lab):
        lab.afterwards.once("clear", undo=lambda: undone.append("clear"))
        cluster.node(ready=False)
        lab.afterwards.leave()
    assert (undone, cluster.clock.now()) == ([], 0)


def test_what_is_undone_may_take_a_while(lab: Lab, cluster: Cluster) -> None:
    """A kubelet that was restarted shows its devices seconds later."""
    with as_it_was(lab):
        cluster.node(allocatable={GPU: 0})
        cluster.clock.at(8, cluster.node)
    assert cluster.clock.now() == pytest.approx(8)


@pytest.mark.parametrize(
    ("left", "told"),
    [
        (lambda cluster: cluster.node(ready=False), "w: ready was True, and is False"),
        (lambda cluster: cluster.node(labels={"a": "b"}), "w: labels was none, and is a=b"),
        (
            lambda cluster: cluster.node(taints=frozenset({("gpu", "", "NoSchedule")})),
            "w: taints was none, and is gpu=:NoSchedule",
        ),
        (
            lambda cluster: cluster.node(allocatable={GPU: 7}),
            f"w: allocatable was {GPU}=8, and is {GPU}=7",
        ),
        (
            lambda cluster: cluster.node(capacity={GPU: 9}),
            f"w: capacity was {GPU}=8, and is {GPU}=9",
        ),
        # What is not there at all is told once.
        (
            lambda cluster: cluster.node(allocatable={GPU: 0}, capacity={GPU: 0}),
            f"w: allocatable was {GPU}=8, and is none",
        ),
        (lambda cluster: cluster.nodes.remove("w"), "w: the node is gone"),
        (
            lambda cluster: cluster.plugins.remove("plugin", "kube-system"),
            "w: its device plugin is not ready",
        ),
        (lambda cluster: a_plugin(cluster, containers=()), "w: its device plugin is not ready"),
        (lambda cluster: a_plugin(cluster, terminating=True), "w: its device plugin is not ready"),
    ],
)
def test_what_is_left_behind_is_told(
    lab: Lab, cluster: Cluster, left: Callable[[Cluster], None], told: str
) -> None:
    """The next test would be blamed for it."""
    with (
        pytest.raises(CheckFailed, match="the lab is not as it was before") as raised,
        as_it_was(lab),
    ):
        left(cluster)
    assert raised.value.seen == told


def test_a_key_without_devices_is_no_change(lab: Lab, cluster: Cluster) -> None:
    """A kubelet keeps the name of a resource until its node is made anew."""
    with as_it_was(lab):
        cluster.node(allocatable={GPU: 8, "amd.com/gpu": 0})
    assert cluster.clock.now() == 0


def test_the_capacity_of_a_plugin_that_has_gone_is_no_change(lab: Lab, cluster: Cluster) -> None:
    """A kubelet keeps it for five minutes, as that of a guest which a test had on the node."""
    with as_it_was(lab):
        cluster.node(
            allocatable={GPU: 8, "late.example.com/device": 0},
            capacity={GPU: 8, "late.example.com/device": 2},
        )
    assert cluster.clock.now() == 0


def test_a_capacity_may_go_at_any_time_where_no_plugin_was(lab: Lab, cluster: Cluster) -> None:
    """The five minutes of an earlier test's guest may end in this one."""
    late = "late.example.com/device"
    cluster.node(allocatable={GPU: 8, late: 0}, capacity={GPU: 8, late: 2})
    with as_it_was(lab):
        cluster.node(allocatable={GPU: 8, late: 0}, capacity={GPU: 8, late: 0})
    assert cluster.clock.now() == 0


def test_one_device_that_is_gone_is_told(lab: Lab, cluster: Cluster) -> None:
    """Of a node that had no more."""
    cluster.node(allocatable={GPU: 1}, capacity={GPU: 1})
    with pytest.raises(CheckFailed) as raised, as_it_was(lab):
        cluster.node(allocatable={GPU: 0}, capacity={GPU: 1})
    assert raised.value.seen == f"w: allocatable was {GPU}=1, and is none"


def test_the_tests_own_error_is_told_and_all_is_undone(lab: Lab, cluster: Cluster) -> None:
    """Whoever reads of a failure has to do with one thing."""
    undone: list[str] = []

    def body() -> None:
        lab.afterwards.once("clear", undo=lambda: undone.append("clear"))
        cluster.node(ready=False)
        raise CheckFailed("not so")

    with pytest.raises(CheckFailed, match="not so"), as_it_was(lab):
        body()
    assert undone == ["clear"]
