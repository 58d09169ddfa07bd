"""The wait for a fleet's plugins, and for its devices."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fake_plugin.faults.fault import Fail, Fault
from lab.cluster.client import Client
from lab.core.errors import TimedOut
from lab.core.fleet import Fleet, Pool
from lab.core.fleet.model import NodeFault
from lab.core.progress import Progress, Step
from lab.install import rollout as rollout_module
from lab.install.rollout import REVISION, Rollout, Wanted, due_by, missing, wanted_by
from tests.unit.stand_ins.api_server import GPU, FakeApi, Json, node, pod

NPU = "npu.example.com/chip"
FLEET = Fleet.default().placed_on(("t-lab-worker",))
NEW, OLD = "6b86b273ff34", "d4735e3a265e"
NOT_READY = "t-lab-worker: the plugin of this fleet is not ready"


@pytest.fixture
def step(progress: Progress) -> Iterator[Step]:
    """Return a step that runs."""
    with progress.step("Waiting") as running:
        yield running


@pytest.fixture
def rollout(client: Client) -> Rollout:
    """Return the rollout of the chapter's fleet to one worker."""
    return Rollout(client, FLEET, NEW)


def plugin(revision: str, *, waiting: Json | None = None) -> Json:
    """Return the pod of a plugin of some fleet, which runs unless it is waiting."""
    found = pod(f"plugin-{revision}", "t-lab-worker", waiting=waiting)
    found["metadata"]["annotations"] = {REVISION: revision}
    return found


def test_wanted_is_told_by_node_and_resource() -> None:
    """Pools that share a node add their resources to it."""
    pools = (
        Pool("a", 1, GPU, 2, node_names=("w1",)),
        Pool("b", 1, NPU, 8, node_names=("w1",)),
    )
    assert wanted_by(Fleet(pools).placed_on(("w1",))) == {"w1": {GPU: 2, NPU: 8}}


def test_wait_ends_with_the_devices(rollout: Rollout, api: FakeApi, step: Step) -> None:
    """The pods are looked at, then the nodes, and no more is asked then."""
    api.add(node("t-lab-worker", devices=2))
    api.pods = [plugin(NEW)]
    rollout.wait(30, step, "t-lab")
    assert len(api.requests) == 2


@pytest.mark.parametrize(
    "pods",
    [
        pytest.param([], id="no pod"),
        pytest.param([plugin(OLD)], id="the plugin before"),
        pytest.param([plugin(NEW, waiting={"reason": "ContainerCreating"})], id="not started"),
        pytest.param([plugin(OLD), plugin(NEW, waiting={"reason": "ErrImagePull"})], id="both"),
    ],
)
def test_devices_of_the_plugin_before_are_not_enough(
    rollout: Rollout, api: FakeApi, step: Step, pods: list[Json]
) -> None:
    """A fleet with as many devices as the one before shows its numbers from the start."""
    api.add(node("t-lab-worker", devices=2))
    api.pods = pods
    with pytest.raises(TimedOut) as raised:
        rollout.wait(0.1, step, "t-lab")
    assert raised.value.seen.splitlines()[0] == NOT_READY


@pytest.mark.parametrize(
    ("elsewhere", "left"),
    [
        pytest.param("t-lab-worker", 0, id="gone"),
        pytest.param("t-lab-worker", 3, id="still there"),
        pytest.param("t-lab-control-plane", 3, id="still there on another node"),
        pytest.param("t-lab-worker7", 0, id="the node has left"),
    ],
)
def test_what_only_the_fleet_before_had_is_to_go(
    rollout: Rollout, api: FakeApi, step: Step, elsewhere: str, left: int
) -> None:
    """The scheduler would go on giving it out."""
    earlier = Fleet((Pool("a", 1, NPU, 3, node_names=(elsewhere,)),))
    api.add(node("t-lab-worker", devices=2))
    if left:
        api.nodes[elsewhere]["status"]["allocatable"][NPU] = str(left)
    api.pods = [plugin(NEW)]
    switched = replace(rollout, earlier=earlier)
    if not left:
        switched.wait(30, step, "t-lab")
        return
    with pytest.raises(TimedOut) as raised:
        switched.wait(0.1, step, "t-lab")
    assert raised.value.seen.splitlines()[0] == f"{elsewhere}: {NPU} 3 of 0"


@pytest.mark.parametrize("devices", [0, 1, 3])
def test_wait_in_vain_says_what_was_last_seen(
    rollout: Rollout, api: FakeApi, step: Step, devices: int
) -> None:
    """Too few, and too many: an earlier fleet's devices are not this one's."""
    api.add(node("t-lab-worker", devices=devices))
    api.pods = [plugin(NEW)]
    with pytest.raises(TimedOut) as raised:
        rollout.wait(0.1, step, "t-lab")
    error = raised.value
    assert error.what == "the devices did not become allocatable within 0.1 s"
    assert error.where == "t-lab-worker"
    assert error.seen.splitlines()[:2] == [
        f"t-lab-worker: {GPU} {devices} of 2",
        f"pod plugin-{NEW} on t-lab-worker: Running",
    ]
    assert error.commands[0] == "gpulab logs --name t-lab"


def test_wait_in_vain_without_a_plugin(rollout: Rollout, step: Step) -> None:
    """That there is no pod is what there is to say of it."""
    with pytest.raises(TimedOut) as raised:
        rollout.wait(0.1, step, "t-lab")
    assert raised.value.seen == "\n".join(
        (f"t-lab-worker: {GPU} 0 of 2", NOT_READY, "there is no pod of the plugin")
    )


def test_wait_in_vain_quotes_the_plugin(rollout: Rollout, api: FakeApi, step: Step) -> None:
    """Of several pods, the one that is not ready has something to say."""
    crash = {"reason": "CrashLoopBackOff"}
    api.pods = [pod("good", "w2"), pod("bad", "w1", waiting=crash)]
    api.logs = {"bad": "no such node in the fleet\n", "good": "all is well\n"}
    with pytest.raises(TimedOut) as raised:
        rollout.wait(0.1, step, "t-lab")
    assert raised.value.seen.splitlines()[2:] == [
        "pod bad on w1: Pending CrashLoopBackOff",
        "pod good on w2: Running",
        "no such node in the fleet",
    ]


def test_pod_without_a_log_does_not_hide_that_time_is_up(
    rollout: Rollout, api: FakeApi, step: Step
) -> None:
    """Its image is missing, say; the server's answer to that is quoted instead."""
    api.pods = [pod("bad", "w1", waiting={"reason": "ErrImageNeverPull"})]
    with pytest.raises(TimedOut) as raised:
        rollout.wait(0.1, step, "t-lab")
    assert raised.value.seen.splitlines()[-2:] == [
        "pod bad on w1: Pending ErrImageNeverPull",
        'container "c" in pod "bad" is waiting to start',
    ]


def test_node_that_is_not_ready_keeps_a_lab_from_being_ready(client: Client, api: FakeApi) -> None:
    """Also one outside of the fleet, such as the control plane: `up` and `status` say the same."""
    api.add(node("t-lab-control-plane", ready=False), node("t-lab-worker", devices=2))
    placed = Fleet.default().placed_on(["t-lab-worker"])
    assert missing(client.nodes(), due_by(placed)) == ["t-lab-control-plane: the node is not Ready"]


@pytest.fixture
def held(client: Client) -> Rollout:
    """Return the rollout of a fleet of two resources, of which it holds back one."""
    pools = (
        Pool("a", 1, GPU, 2, node_names=("t-lab-worker",)),
        Pool("b", 1, NPU, 8, node_names=("t-lab-worker",)),
    )
    refused = NodeFault(None, Fault("fleet-1", "Register", Fail("no"), NPU))
    return Rollout(client, Fleet(pools, faults=(refused,)), NEW)


def test_what_is_held_back_is_worked_out_once(
    held: Rollout, api: FakeApi, step: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many changes are seen until it comes."""
    worked_out: list[Fleet] = []

    def due(fleet: Fleet) -> Wanted:
        worked_out.append(fleet)
        return due_by(fleet)

    monkeypatch.setattr(rollout_module, "due_by", due)
    api.add(node("t-lab-worker", devices=1))
    api.pods = [unready(plugin(NEW))]
    with pytest.raises(TimedOut):
        held.wait(0.1, step, "t-lab")
    assert worked_out == [held.fleet]


def unready(found: Json) -> Json:
    """Return the pod with a container that runs, and is not ready."""
    found["status"]["containerStatuses"][0]["ready"] = False
    return found


def test_what_is_held_back_is_not_waited_for(held: Rollout, api: FakeApi, step: Step) -> None:
    """Its plugin is never ready: that it runs is enough, with the devices that come."""
    api.add(node("t-lab-worker", devices=2))
    api.pods = [unready(plugin(NEW))]
    held.wait(30, step, "t-lab")
    assert len(api.requests) == 2


@pytest.mark.parametrize(
    ("pods", "devices", "seen"),
    [
        ([unready(plugin(NEW))], 1, f"t-lab-worker: {GPU} 1 of 2"),
        ([plugin(OLD)], 2, NOT_READY),
        ([plugin(NEW, waiting={"reason": "ErrImagePull"})], 2, NOT_READY),
    ],
)
def test_the_others_are_waited_for(  # noqa: PLR0913, PLR0917 - the table's columns
    held: Rollout, api: FakeApi, step: Step, pods: list[Json], devices: int, seen: str
) -> None:
    """The plugin of this fleet has to run, and the resource that nothing holds back to come."""
    api.add(node("t-lab-worker", devices=devices))
    api.pods = pods
    with pytest.raises(TimedOut) as raised:
        held.wait(0.1, step, "t-lab")
    first, second, *_ = raised.value.seen.splitlines()
    assert first == seen
    assert NPU not in second


def test_a_plugin_that_crashes_does_not_run(held: Rollout, api: FakeApi, step: Step) -> None:
    """Its phase says so, and the reason why it waits says otherwise."""
    api.add(node("t-lab-worker", devices=2))
    crashing = plugin(NEW, waiting={"reason": "CrashLoopBackOff"})
    crashing["status"]["phase"] = "Running"
    api.pods = [crashing]
    with pytest.raises(TimedOut) as raised:
        held.wait(0.1, step, "t-lab")
    assert raised.value.seen.splitlines()[0] == NOT_READY
