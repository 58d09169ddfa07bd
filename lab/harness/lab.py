"""The handle by which a test works on a lab: submit pods, break nodes, expect what comes of it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, overload

from lab.cluster import reading
from lab.cluster.connection import MERGE, ApiFailed, Json
from lab.cluster.objects import Event, Pod
from lab.core.clock import Clock
from lab.core.errors import UsageError
from lab.core.fleet import Fleet
from lab.core.progress import Silence
from lab.harness.afterwards import Afterwards
from lab.harness.expectations.expecting import Expecting
from lab.harness.expectations.nodes import NodeExpectation
from lab.harness.expectations.pods import PodExpectation
from lab.harness.expectations.replicas import ReplicasExpectation
from lab.harness.fleets import fleet_named
from lab.harness.machine import only_resource
from lab.harness.node import NodeHandle
from lab.harness.policies import Policies
from lab.harness.scheduler import wait_until_seen
from lab.harness.submitting import Submitted, of_test, take_away
from lab.harness.view import View
from lab.host.processes import pasteable
from lab.install.deployment import DAEMON_SET_PATH
from lab.install.placing import place
from lab.install.status import RunningLab

#: Nodes are in no namespace, and what is said of them is in this one.
_NODE_EVENTS: Final = "/api/v1/namespaces/default/events"
_TELLS_HEALTH: Final = (1, 36)
_KEEPS_RIVALS: Final = (1, 37)


class Lab(Policies):
    """One namespace of a running lab, its nodes, and the fleet that is on them."""

    def __init__(self, running: RunningLab, fleet: Fleet, namespace: str, view: View) -> None:
        #: What is to be undone when the test is over, the latest first.
        self.afterwards = Afterwards()
        self.running = running
        self.fleet = fleet
        self.namespace = namespace
        self.view = view
        self._began = view.clock.moment().replace(microsecond=0)
        self._rivals: defaultdict[str, set[str]] = defaultdict(set)
        self._made: dict[tuple[str, ...], Json] = {}

    @property
    def name(self) -> str:
        """The lab's name, which `gpulab` commands take as --name."""
        return self.running.record.name

    @property
    def kubeconfig(self) -> str:
        """The path of the lab's kubeconfig, for programs that are to work on its cluster."""
        return str(self.running.folder.kubeconfig)

    @property
    def clock(self) -> Clock:
        """The clock that waits go by."""
        return self.view.clock

    @property
    def resource(self) -> str:
        """The one resource of the fleet; raises `UsageError` where it has several."""
        return only_resource(tuple(self.fleet.nodes()), "the fleet")

    @property
    def tells_device_health(self) -> bool:
        """Whether kubelets write into a pod's status how its devices are.

        They do by default from Kubernetes 1.36 on (feature gate ResourceHealthStatus).
        """
        return self._has_reached(_TELLS_HEALTH)

    @property
    def keeps_rival_plugins(self) -> bool:
        """Whether kubelets fall back on another plugin of a resource when the latest one ends.

        They do from Kubernetes 1.37 on (kubernetes/kubernetes#135437).
        """
        return self._has_reached(_KEEPS_RIVALS)

    def _has_reached(self, release: tuple[int, int]) -> bool:
        return all(_release(each.version) >= release for each in self.view.nodes.all())

    def submit(self, manifest: Json) -> Submitted:
        """Create an object in the lab's namespace; one of a kind that has none goes after the test.

        Such as a ClusterRole, which is the whole cluster's. It is made as `kubectl create` does.
        Raises `UsageError` for what is no single object with a name, and for another namespace than
        the lab's; `ApiFailed` where the API server refuses it, with the server's words in `seen`.
        """
        return self._make(self._planned(manifest))

    def _make(self, planned: Submitted) -> Submitted:
        key = (planned.manifest["apiVersion"], planned.kind, planned.name)
        if not planned.namespace:
            self.afterwards.once("submitted", *key, undo=partial(self._take_away, key))
        self.running.client.create(planned.manifest)
        self._made[key] = planned.manifest
        return planned

    def _planned(self, manifest: Json) -> Submitted:
        """Return what an object is going to be; raises `UsageError` as `submit`."""
        complete = of_test(manifest, self.namespace, self.running.client.kinds)
        meta = complete["metadata"]
        return Submitted(complete["kind"], meta.get("namespace", ""), meta["name"], complete)

    def _take_away(self, key: tuple[str, ...]) -> None:
        # What the server has refused may be there all the same: of somebody else.
        if made := self._made.get(key):
            take_away(made, self.running.client, self.view, self.kubeconfig)

    def delete(self, submitted: Submitted, *, within: float = 60) -> None:
        """Delete an object; of a pod it waits until it is gone, and its devices are free."""
        self.running.client.delete(submitted.manifest)
        if submitted.kind == "Pod":
            self.expect(submitted).gone(within=within)

    def bring_plugin(  # noqa: PLR0913 - each is a thing that plugins differ by
        self,
        node: NodeHandle,
        name: str,
        resource: str,
        *,
        count: int = 1,
        mounted: bool = True,
        faults: Sequence[Mapping[str, Any]] = (),
    ) -> Submitted:
        """Start a device plugin on a node beside the lab's own: a pod, which goes after the test.

        It has `count` devices. `mounted` says whether it has the kubelet's folder of sockets;
        `faults` are as in a fleet file.
        """
        manifest = node.host.plugin(name, resource, count, mounted=mounted, faults=faults)
        return self._bring(manifest, node, resource)

    def bring_found_plugin(
        self, node: NodeHandle, name: str, resource: str, *, count: int = 1
    ) -> Submitted:
        """Start a device plugin that does not register; the kubelet finds its socket, and asks.

        It listens in the kubelet's folder `plugins_registry`, as drivers of CSI and DRA do.
        """
        return self._bring(node.host.found_plugin(name, resource, count), node, resource)

    def _bring(self, manifest: Json, node: NodeHandle, resource: str) -> Submitted:
        rival = resource in {each for member in node.members for each in member.devices}
        if rival:
            # When it has gone, the kubelet may not go back to the lab's own.
            node.rivals.add(resource)
        guest = self._planned(manifest)
        # Whoever has no answer from the server does not know whether it is there.
        undo = partial(self._send_away, guest, node, rival)
        self.afterwards.once("guest", guest.name, undo=undo)
        return self._make(guest)

    def _send_away(self, guest: Submitted, node: NodeHandle, rival: bool) -> None:  # noqa: FBT001 - for `partial`
        self.delete(guest)
        if rival:
            # The kubelet may have ended what it had with the lab's own, which does not notice.
            node.restart_plugin()

    def node(self, name: str = "") -> NodeHandle:
        """Return a node by the fleet's or the cluster's name for it; the fleet's only one for "".

        Raises `UsageError` for a name that is neither.
        """
        nodes = self.nodes()
        if not name and len(nodes) == 1:
            return nodes[0]
        called = self.fleet.node_named(name)
        found = next((each for each in nodes if each.name == called), None)
        if found:
            return found
        raise UsageError(
            f"the fleet has no node {name!r}" if name else "the fleet has several nodes",
            seen=f"nodes that it has: {', '.join(self.fleet.names())}",
            remedy="name one of these",
        )

    def place(self, fleet: Fleet | str) -> None:
        """Put another fleet onto the lab's nodes, and wait until its devices are there.

        A name is that of a file in scenarios/fleets. The fleet of before is back afterwards.
        """
        self.afterwards.once("fleet", undo=partial(self._place, self.fleet))
        self._place(fleet_named(fleet) if isinstance(fleet, str) else fleet)

    def _place(self, fleet: Fleet) -> None:
        self.fleet = place(self.running, fleet, Silence())

    def wait_for_scheduler(self, node: NodeHandle, *, within: float = 30) -> None:
        """Wait until the scheduler has seen a node as it is now.

        For a pod that is to stay Pending by what has just become of the node: a scheduler that is
        behind would place it by what was before.
        """
        wait_until_seen(self.running.client, self.view, self.namespace, node.name, within)

    def roll_out_plugins(self, *, within: float = 120) -> None:
        """Replace the plugins of all nodes as `kubectl rollout restart` does, and wait for them."""
        before = {pod.uid for pod in self.view.plugins.all()}
        annotations = {"kubectl.kubernetes.io/restartedAt": self.clock.moment().isoformat()}
        patch = {"spec": {"template": {"metadata": {"annotations": annotations}}}}
        connection = self.running.client.connection
        connection.send("PATCH", DAEMON_SET_PATH, body=patch, content_type=MERGE)
        for node in self.nodes():
            node.wait_for_plugin(before, within)

    def nodes(self) -> tuple[NodeHandle, ...]:
        """Return the nodes of the fleet."""
        return tuple(
            NodeHandle(self.running, self.view, self.afterwards, node, members, self._rivals[node])
            for node, members in self.fleet.by_node().items()
        )

    def pods(self, app: str = "") -> tuple[Pod, ...]:
        """Return the namespace's pods as they are now; of one workload, if its name is given."""
        return tuple(pod for pod in self.view.pods.all() if not app or pod.labels.get("app") == app)

    def serves(self, pod: Pod) -> bool:
        """Whether a pod asks for devices of the lab's fleet, and not for other plugins' alone."""
        return any(name in pod.requests for each in self.fleet.nodes() for name in each.devices)

    @overload
    def expect(self, subject: NodeHandle) -> NodeExpectation: ...

    @overload
    def expect(self, subject: Submitted | Pod) -> PodExpectation: ...

    def expect(self, subject: NodeHandle | Submitted | Pod) -> NodeExpectation | PodExpectation:
        """Return what can be expected of a node or of a pod."""
        describe = ("kubectl", "--kubeconfig", self.kubeconfig, "describe")
        if isinstance(subject, NodeHandle):
            shown = (
                pasteable((*describe, "node", subject.name)),
                f"gpulab status --name {self.name}",
            )
            said = partial(self._node_events, subject.name)
            node = Expecting(self.view, f"node {subject.title}", said, shown)
            return NodeExpectation(
                node,
                subject.name,
                lambda: subject.resource,
                subject.calls,
                subject.requested,
                subject.metrics,
            )
        name, inside = subject.name, subject.namespace
        told = (pasteable((*describe, "pod", name, "--namespace", inside)),)
        pod = Expecting(self.view, f"pod {name}", lambda: self._events("Pod", name), told)
        return PodExpectation(pod, self.running.client, inside, name, self._numa_nodes)

    def expect_replicas(self, workload: Submitted) -> ReplicasExpectation:
        """Return what can be expected of the pods of a Deployment."""
        name, inside = workload.name, workload.namespace
        describe = ("kubectl", "--kubeconfig", self.kubeconfig, "describe", "pods")
        told = (pasteable((*describe, "--namespace", inside, "--selector", f"app={name}")),)

        def about() -> tuple[Event, ...]:
            return tuple(each for pod in self.pods(name) for each in self._events("Pod", pod.name))

        expecting = Expecting(self.view, f"{workload.kind} {name}", about, told)
        return ReplicasExpectation(expecting, lambda: self.pods(name))

    def _numa_nodes(self, node: str) -> Mapping[str, int | None]:
        found = self.node(node).resources()
        return {device.unit: device.numa for each in found for device in each.devices}

    def _events(self, kind: str, name: str) -> tuple[Event, ...]:
        found = [each for each in self.view.events.all() if (each.about, each.name) == (kind, name)]
        return _in_order(found)

    def _node_events(self, name: str) -> tuple[Event, ...]:
        """Return what was said of a node since the test began, as far as the server tells it."""
        selector = f"involvedObject.kind=Node,involvedObject.name={name}"
        try:
            found = self.running.client.connection.get(_NODE_EVENTS, (("fieldSelector", selector),))
        except ApiFailed:
            # Asked for where an expectation has failed: that is what is to be told.
            return ()
        events = [reading.event(each) for each in found["items"]]
        return _in_order([each for each in events if each.last and each.last >= self._began])


def _in_order(events: Sequence[Event]) -> tuple[Event, ...]:
    return tuple(sorted(events, key=lambda each: (each.last is not None, each.last)))


def _release(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version, of `v1.36.3` (1, 36)."""
    return tuple(int(part) for part in version.removeprefix("v").split(".")[:2])
