"""How a test ends a node's plugin, and waits for what comes after it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.cluster.connection import Json
from lab.cluster.silence import NodeSilent
from lab.core.errors import CheckFailed, TimedOut
from lab.core.fleet import Fleet
from lab.harness.lab import Lab
from lab.harness.node import NodeHandle
from lab.install.deployment import NODE_LABEL
from tests.unit.harness.cluster import NAMESPACE, Cluster, a_pod, running

if TYPE_CHECKING:
    from lab.install.status import RunningLab


@dataclass
class Node:
    """A node with a plugin, and what was asked for to be done about it."""

    cluster: Cluster
    asked: list[str] = field(default_factory=list)

    def plugin(
        self,
        name: str,
        restarts: int = 0,
        *,
        ready: bool = True,
        **facts: Any,  # noqa: ANN401 - of a Pod
    ) -> None:
        """Let the plugin's pod be so."""
        container = replace(running("device-plugin", restarts=restarts), ready=ready)
        pod = replace(a_pod(name), node="w", phase="Running", containers=(container,), **facts)
        self.cluster.plugins.put(pod, name, "kube-system")

    def delete(self, manifest: Json) -> None:
        """Take note of a pod to delete."""
        self.asked.append(f"delete {manifest['metadata']['name']}")

    def send(self, method: str, path: str, **sent: Any) -> None:  # noqa: ANN401 - a patch
        """Take note of a patch, without the time in it."""
        (key,) = sent["body"]["spec"]["template"]["metadata"]["annotations"]
        self.asked.append(f"{method} {path.rpartition('/')[2]} {key}")

    def label_node(self, name: str, labels: Mapping[str, str | None]) -> None:
        """Take note of labels of the one node."""
        assert name == "w"
        self.asked += [f"{key}={value}" for key, value in labels.items()]


@pytest.fixture
def node(cluster: Cluster) -> Node:
    """Return a node whose plugin serves it."""
    found = Node(cluster)
    found.plugin("old")
    return found


@pytest.fixture
def lab(node: Node) -> Lab:
    """Return the lab of that one node, `w`."""
    client = SimpleNamespace(delete=node.delete, label_node=node.label_node, connection=node)
    running_lab = SimpleNamespace(
        client=client, access=node, record=SimpleNamespace(name="gpu-lab")
    )
    fleet = Fleet.default().placed_on(("w",))
    return Lab(cast("RunningLab", running_lab), fleet, NAMESPACE, node.cluster.view)


@pytest.fixture
def handle(lab: Lab) -> NodeHandle:
    """Return the handle of that node."""
    return lab.node()


def test_a_restart_ends_with_another_pod_that_serves(node: Node, handle: NodeHandle) -> None:
    """The old one is ready to its end, which proves nothing."""
    node.cluster.clock.at(2, lambda: node.plugin("old", terminating=True))
    node.cluster.clock.at(6, lambda: node.plugin("new"))
    handle.restart_plugin()
    assert (node.asked, node.cluster.clock.now()) == (["delete old"], 6)


def test_a_plugin_that_does_not_go_is_told(handle: NodeHandle) -> None:
    """As where its kubelet waits for it."""
    with pytest.raises(TimedOut, match="the plugin did not serve the node within 20 s") as raised:
        handle.restart_plugin(within=20)
    assert (raised.value.where, raised.value.seen) == ("chapter-0 (w)", "old: Running ")


@pytest.fixture
def crashes(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a plugin that takes note of its crash."""
    plugin = SimpleNamespace(crash=lambda: node.asked.append("crash"))
    monkeypatch.setattr(NodeHandle, "_plugin", plugin)


@pytest.mark.usefixtures("crashes")
def test_a_kill_ends_with_the_same_pod_started_again(node: Node, handle: NodeHandle) -> None:
    """The kubelet does that, and it is no new pod of the DaemonSet."""
    node.cluster.clock.at(3, lambda: node.plugin("old", restarts=1))
    handle.kill_plugin()
    assert (node.asked, node.cluster.clock.now()) == (["crash"], 3)


@pytest.mark.usefixtures("crashes")
def test_a_killed_plugin_is_replaced_after_the_test(node: Node, lab: Lab) -> None:
    """Once: the next test's kill would else wait for as long as the kubelet holds off by then."""
    with lab.afterwards:
        for restarts, second in ((1, 1), (2, 2)):
            node.cluster.clock.at(second, partial(node.plugin, "old", restarts=restarts))
            lab.node().kill_plugin()
        node.cluster.clock.at(3, partial(node.plugin, "new"))
        node.asked.clear()
    assert node.asked == ["delete old"]


@pytest.mark.usefixtures("crashes")
def test_a_plugin_that_does_not_come_back_is_told(handle: NodeHandle) -> None:
    """With how often its container was started again."""
    with pytest.raises(TimedOut) as raised:
        handle.kill_plugin(within=5)
    assert raised.value.seen == "old: 0 restarts, ready: True"


@pytest.mark.usefixtures("crashes")
def test_a_killed_plugin_whose_pod_has_gone_is_waited_for(node: Node, handle: NodeHandle) -> None:
    """It has no pod for a moment, and two while another one comes."""
    node.cluster.clock.at(1, lambda: node.cluster.plugins.remove("old", "kube-system"))
    with pytest.raises(TimedOut) as raised:
        handle.kill_plugin(within=2)
    assert raised.value.seen == "it has no pod"
    node.plugin("old")
    node.cluster.clock.at(3, partial(node.plugin, "new"))
    node.cluster.clock.at(4, partial(node.plugin, "old", restarts=1))
    node.cluster.clock.at(6, lambda: node.cluster.plugins.remove("new", "kube-system"))
    handle.kill_plugin()
    assert node.cluster.clock.now() == 6


@pytest.mark.usefixtures("crashes")
@pytest.mark.parametrize(
    ("names", "number", "seen"),
    [
        ((), 0, ""),
        (
            ("old", "new"),
            2,
            "  seen:  new: 0 restarts, ready: True, old: 0 restarts, ready: True\n",
        ),
    ],
)
def test_a_plugin_that_has_not_one_pod_is_not_killed(
    node: Node, lab: Lab, names: tuple[str, ...], number: int, seen: str
) -> None:
    """As one that was stopped, or while another one takes its place; nothing is to be undone."""
    node.cluster.plugins.remove("old", "kube-system")
    for name in names:
        node.plugin(name)
    with lab.afterwards, pytest.raises(CheckFailed) as raised:
        lab.node().kill_plugin()
    assert str(raised.value) == (
        f"the node has {number} pods of the plugin, and one can be killed\n"
        "  where: chapter-0 (w)\n"
        f"{seen}"
        "  next:  start it, or wait until it is the only one, before it is killed\n"
        "         $ gpulab status --name gpu-lab"
    )
    assert node.asked == []


@pytest.mark.parametrize(
    ("said", "restarts"),
    [((2, ""), []), ((1, ""), ["delete old"]), ((2, "rule-1"), ["delete old"])],
)
def test_a_plugin_that_does_not_say_that_all_is_sound_is_started_anew_after_the_test(
    node: Node,
    lab: Lab,
    monkeypatch: pytest.MonkeyPatch,
    said: tuple[int, str],
    restarts: list[str],
) -> None:
    """One that is sticky, and one whose list goes by a rule, which it does to its end."""
    healthy, fault = said
    resource = SimpleNamespace(healthy=healthy, count=2)
    stream = SimpleNamespace(call="ListAndWatch", resource="a.b/c", fault=fault)
    plugin = SimpleNamespace(
        open_calls=lambda: [stream],
        clear=lambda: node.asked.append("clear"),
        facts=lambda: SimpleNamespace(resources=(resource,)),
    )
    monkeypatch.setattr(NodeHandle, "_plugin", plugin)
    node.cluster.clock.at(1, lambda: node.plugin("new"))
    with lab.afterwards:
        assert lab.node().plugin is not None
        assert node.asked == []
    assert node.asked == ["clear", *restarts]


def test_a_plugin_that_was_stopped_is_there_again_after_the_test(node: Node, lab: Lab) -> None:
    """However often it was stopped; the DaemonSet goes by the node's label."""
    node.cluster.clock.at(1, lambda: node.cluster.plugins.remove("old", "kube-system"))
    with lab.afterwards:
        lab.node().stop_plugin()
        lab.node().stop_plugin()
        node.cluster.clock.at(3, lambda: node.plugin("new"))
    assert node.asked == [f"{NODE_LABEL}=None", f"{NODE_LABEL}=None", f"{NODE_LABEL}=true"]


def test_a_call_that_hangs_is_waited_for(
    node: Node, handle: NodeHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that has ended is none, and of another name neither."""
    open_calls = [SimpleNamespace(call="ListAndWatch")]
    plugin = SimpleNamespace(open_calls=lambda: open_calls)
    monkeypatch.setattr(NodeHandle, "_plugin", plugin)
    with pytest.raises(TimedOut, match="no Allocate was left open within 2 s") as raised:
        handle.wait_for_open("Allocate", within=2)
    assert raised.value.seen == "open calls: ListAndWatch"
    node.cluster.clock.at(3, lambda: open_calls.append(SimpleNamespace(call="Allocate")))
    handle.wait_for_open("Allocate")
    assert node.cluster.clock.now() == 3


def test_a_plugin_that_starts_again_is_waited_for_until_it_tells_what_is_open(
    node: Node, handle: NodeHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said of it meanwhile is told where it does not come."""

    def away() -> None:
        raise CheckFailed("the plugin does not answer", seen="Connection refused")

    plugin = SimpleNamespace(open_calls=away)
    monkeypatch.setattr(NodeHandle, "_plugin", plugin)
    with pytest.raises(TimedOut) as raised:
        handle.wait_for_open("Allocate", within=2)
    assert raised.value.seen == "the plugin does not answer: Connection refused"
    hangs = SimpleNamespace(call="Allocate")
    node.cluster.clock.at(3, lambda: setattr(plugin, "open_calls", lambda: [hangs]))
    handle.wait_for_open("Allocate")
    assert node.cluster.clock.now() == 3


def test_a_plugin_that_says_nothing_is_given_up(
    node: Node, handle: NodeHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After half a minute of its silence, however long the wait: as on a node that is paused."""

    def silent() -> None:
        raise NodeSilent(
            "the device plugin of node w does not answer",
            where="pod p",
            seen=f"nothing for {10 * node.cluster.clock.now():.0f} s",
            remedy="see whether it runs",
            commands=("docker ps",),
            lasting=10 * node.cluster.clock.now(),
        )

    monkeypatch.setattr(NodeHandle, "_plugin", SimpleNamespace(open_calls=silent))
    with pytest.raises(TimedOut) as raised:
        handle.wait_for_open("Allocate", within=60)
    assert str(raised.value) == (
        "no Allocate was left open; given up after 3 s\n"
        "  where: chapter-0 (w)\n"
        "  seen:  the device plugin of node w does not answer: nothing for 30 s\n"
        "  next:  see whether it runs\n"
        "         $ docker ps\n"
        "         $ gpulab logs w --name gpu-lab"
    )


def test_a_rollout_replaces_the_plugin_of_every_node(node: Node, lab: Lab) -> None:
    """By the annotation that `kubectl rollout restart` sets."""
    node.cluster.clock.at(4, lambda: node.plugin("new"))
    lab.roll_out_plugins()
    assert node.cluster.clock.now() == 4
    assert node.asked == ["PATCH fake-gpu-device-plugin kubectl.kubernetes.io/restartedAt"]


def test_what_a_killed_test_has_stopped_and_broken_is_put_right(
    node: Node, handle: NodeHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kubelet first, then the plugin, which is told before it is ready: a rule may hold it back."""

    def clear() -> None:
        node.asked.append(f"clear at {node.cluster.clock.now():g} s")
        node.cluster.clock.at(5, partial(node.plugin, "old"))

    nothing = SimpleNamespace(resources=())
    plugin = SimpleNamespace(clear=clear, facts=lambda: nothing, open_calls=list)
    monkeypatch.setattr(NodeHandle, "_plugin", plugin)
    monkeypatch.setattr(NodeHandle, "start_kubelet", lambda _: node.asked.append("start kubelet"))
    node.cluster.node("w", ready=False)
    node.cluster.plugins.remove("old", "kube-system")
    node.cluster.clock.at(2, partial(node.plugin, "old", ready=False))
    handle.put_right()
    assert node.asked == ["start kubelet", f"{NODE_LABEL}=true", "clear at 2 s"]
    assert node.cluster.clock.now() == 5
