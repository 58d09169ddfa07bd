"""The way to the nodes of any cluster: a privileged pod on the node, where the cluster allows it.

A command is a pod that runs to its end. To stop a kubelet takes one that stays, since a node
without a kubelet starts nothing: it is reached through the API server before the kubelet is
stopped, so that one whose network does not lead there stops nothing.
"""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from http import HTTPStatus
from typing import Final

from lab.cluster.access import (
    ABILITIES,
    DEVICE_PLUGIN_DIR,
    LOSE_CHECKPOINT,
    RESTART_KUBELET,
    Ability,
    NotOffered,
    journal_command,
)
from lab.cluster.client import Client
from lab.cluster.connection import ApiFailed
from lab.cluster.existing import keeper
from lab.cluster.existing.pod import (
    ACT,
    KEEPER,
    NAMESPACE,
    Image,
    Manifest,
    Secret,
    keeping,
    running,
)
from lab.cluster.objects import Pod
from lab.core.errors import CheckFailed, TimedOut
from lab.host.processes import Finished, ProcessFailed

BACKEND: Final = "existing"
_PODS: Final = f"/api/v1/namespaces/{NAMESPACE}/pods"
_ENDED: Final = frozenset({"Succeeded", "Failed"})
_STUCK: Final = frozenset(
    {
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
    }
)
#: For a pod to be started, and for a command that nobody has set a limit for.
_SECONDS: Final = 120.0
_NO_RESTART: Final = "what restarts a machine is outside of Kubernetes, and differs everywhere"
_INSTEAD_OF_RESTART: Final = (
    "restart its kubelet with `gpulab node restart-kubelet`; for a whole node use the backend kind"
)
_INSTEAD: Final = (
    "let this user create privileged pods in kube-system, or use a lab on the backend kind"
)


@dataclass(frozen=True)
class ExistingAccess:
    """Pods on the nodes; see `lab.cluster.access.NodeAccess`.

    `daemon_set` is the path of the plugin's DaemonSet, whose image the nodes have; `secret` is
    where the cluster has the `token` of the lab.
    """

    client: Client
    daemon_set: str
    secret: Secret
    token: str = field(repr=False)

    @property
    def can(self) -> frozenset[Ability]:
        """Everything but a node's restart; nothing, where the cluster allows no such pod."""
        return frozenset() if self._refusal else frozenset(ABILITIES) - {"restart"}

    def run(
        self, node: str, command: Sequence[str], *, check: bool = True, timeout: float | None = None
    ) -> Finished:
        """See `NodeAccess.run`. Of what it says on stderr, the last 4096 bytes are kept."""
        self._require("run")
        started = time.monotonic()
        pod = running(command, node, self._image, _new_act())
        try:
            self.client.create(pod)
            ended = self._awaited(pod, lambda each: each.phase in _ENDED, timeout or _SECONDS)
            code, said = _end_of(ended)
            output = self.client.logs(ended)
        finally:
            self.client.delete(pod)
        seconds = time.monotonic() - started
        finished = Finished(tuple(command), code, output, said, seconds)
        if check and not finished.ok:
            raise ProcessFailed(finished, f"a command on the node {node} exited with {code}")
        return finished

    def restart_kubelet(self, node: str) -> None:
        """See `NodeAccess.restart_kubelet`."""
        self._require("restart_kubelet")
        # It is the new kubelet that tells of the pod's end.
        self.run(node, RESTART_KUBELET)

    def stop_kubelet(self, node: str) -> None:
        """See `NodeAccess.stop_kubelet`. After an hour it starts by itself."""
        self._require("stop_kubelet")
        if self._keeper_on(node):
            return
        pod = keeping(node, self._image, _new_act(), self.secret)
        try:
            self.client.create(pod)
            ready = self._awaited(pod, lambda each: each.ready, _SECONDS)
            self._tell(ready, "stop")
        except BaseException:
            self.client.delete(pod)
            raise

    def start_kubelet(self, node: str) -> bool:
        """See `NodeAccess.start_kubelet`."""
        self._require("start_kubelet")
        pod = self._keeper_on(node)
        if pod is None:
            return False
        self._tell(pod, "start")
        self.client.delete(pod.naming, grace=1)
        return True

    def lose_checkpoint(self, node: str) -> None:
        """See `NodeAccess.lose_checkpoint`."""
        self._require("lose_checkpoint")
        # A node without a kubelet starts no pod: who keeps the kubelet does it there.
        if pod := self._keeper_on(node):
            self._tell(pod, "forget")
        else:
            self.run(node, LOSE_CHECKPOINT)

    def restart(self, node: str) -> None:
        """See `NodeAccess.restart`: there is no way."""
        raise NotOffered(
            BACKEND, "restart", why=f"{node}: {_NO_RESTART}", instead=_INSTEAD_OF_RESTART
        )

    def kubelet_journal(self, node: str, since: datetime | None = None) -> str:
        """See `NodeAccess.kubelet_journal`."""
        self._require("kubelet_journal")
        return self.run(node, journal_command(since)).stdout

    def device_plugin_dir(self, node: str) -> str:  # noqa: ARG002 - it is the same on all of them
        """See `NodeAccess.device_plugin_dir`."""
        return DEVICE_PLUGIN_DIR

    def keepers(self) -> tuple[Pod, ...]:
        """Return the pods of nodes whose kubelet was stopped."""
        pods = self.client.pods(NAMESPACE, f"{KEEPER}=true")
        return tuple(each for each in pods if not each.terminating and each.phase not in _ENDED)

    def end_all(self) -> None:
        """Start every kubelet that was stopped, and remove all pods that act on nodes."""
        for keeper_pod in self.keepers():
            self.start_kubelet(keeper_pod.node)
        for left in self.client.pods(NAMESPACE, ACT):
            self.client.delete(left.naming)

    def _keeper_on(self, node: str) -> Pod | None:
        return next((each for each in self.keepers() if each.node == node), None)

    def _require(self, ability: Ability) -> None:
        if self._refusal:
            raise NotOffered(BACKEND, ability, why=self._refusal, instead=_INSTEAD)

    @cached_property
    def _refusal(self) -> str:
        """Why no privileged pod may be created, in the server's words; "" where one may."""
        pod = running(("true",), "", Image("none", "Never"), _new_act())
        try:
            self.client.connection.send("POST", _PODS, (("dryRun", "All"),), body=pod)
        except ApiFailed as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            return error.seen
        return ""

    @cached_property
    def _image(self) -> Image:
        """The image of the plugin, which the nodes have or can pull."""
        spec = self.client.connection.get(self.daemon_set)["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        return Image(container["image"], container["imagePullPolicy"])

    def _awaited(self, pod: Manifest, wanted: Callable[[Pod], bool], timeout: float) -> Pod:
        """Wait until the pod is as wanted; raises `CheckFailed` as soon as it cannot be."""
        node, act = pod["spec"]["nodeName"], pod["metadata"]["labels"][ACT]
        seen = "the node has not taken it"
        for pods in self.client.pod_changes(NAMESPACE, f"{ACT}={act}", timeout):
            for each in pods:
                if wanted(each):
                    return each
                seen = " ".join(filter(None, (each.phase, each.waiting)))
                if each.phase in _ENDED or _is_stuck(each):
                    raise CheckFailed(
                        "the pod that was to act on a node cannot run", where=node, seen=seen
                    )
        raise TimedOut(
            f"the pod that was to act on a node did not do so within {timeout:g} s",
            where=node,
            seen=seen,
            remedy="see whether the node's kubelet runs",
            commands=(f"gpulab node start-kubelet {node}",),
        )

    def _tell(self, pod: Pod, verb: str) -> None:
        headers = {keeper.HEADER: self.token}
        status, said = self.client.call_pod(pod, keeper.PORT, "POST", f"/{verb}", headers=headers)
        if status != HTTPStatus.OK:
            raise CheckFailed(
                f"the kubelet could not be told to {verb}",
                where=pod.node,
                seen=said.decode(errors="replace"),
                remedy="see whether the API server reaches pods on that node",
            )


def _new_act() -> str:
    return secrets.token_hex(4)


def _is_stuck(pod: Pod) -> bool:
    """Whether its container cannot be made: the kubelet would try for ever."""
    return any(each.state == "waiting" and each.reason in _STUCK for each in pod.containers)


def _end_of(pod: Pod) -> tuple[int, str]:
    """Return the exit code of a pod's container, and what it said on stderr."""
    for each in pod.containers:
        if each.exit_code is not None:
            return each.exit_code, each.message
    raise CheckFailed(
        "a node did not let the pod run that was to act on it",
        where=pod.node,
        seen=": ".join(filter(None, (pod.reason, pod.message))),
    )
