"""Upstream's code, as a child process that is spoken to in lines of JSON (go/main.go)."""

import itertools
import json
import queue
import subprocess
import threading
from collections.abc import Collection
from pathlib import Path
from typing import IO, cast

from lab.embedded.kubelet.containers import ContainerRecord
from lab.embedded.kubelet.pod import Container, Pod
from lab.embedded.kubelet.topology import Policy
from tests.oracle.kubelet import NUMA_NODES, Crashed, Rejected, Rejections, Seen, State

_Answer = dict[str, object]
_SECONDS = 60


class Real:
    """See `Kubelet`; `folder` has the sockets."""

    def __init__(self, program: Path, folder: Path, policy: Policy) -> None:
        self.folder = folder
        self._program = program
        self._policy = policy
        self._pods: dict[str, Pod] = {}
        self._status: Seen = {}
        self._process: subprocess.Popen[str] | None = None
        self._hearing = threading.Thread()
        self._waiting: dict[int, queue.Queue[_Answer | None]] = {}
        self._numbers = itertools.count()

    def start(self, pods: Collection[Pod], records: Collection[ContainerRecord]) -> Rejections:
        """See `Kubelet`."""
        self.folder.mkdir(exist_ok=True)
        self._process = subprocess.Popen(
            (self._program,),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(self.folder.with_suffix(".log")).open("w"),
            text=True,
        )
        self._hearing = threading.Thread(target=self._hear, args=(self._process.stdout,))
        self._hearing.start()
        self._ask(
            "start",
            socket=str(self.folder / "kubelet.sock"),
            policy=self._policy.value,
            numa=NUMA_NODES,
            status=self._status,
            records=[
                {"pod": each.pod_uid, "container": each.name, "running": each.running}
                for each in records
            ],
        )
        self.tick()
        self._pods = {each.uid: each for each in pods}
        self._tell_pods(knows=False)
        rejections = {}
        for pod in pods:
            if rejection := self._admit(pod, knows=False):
                rejections[pod.uid] = rejection
        self._tell_pods()
        return rejections

    def stop(self) -> None:
        """See `Kubelet`."""
        if self._process:
            self._process.kill()
            self._process.wait()
            # Else it would tell the next process's callers of the end of this one.
            self._hearing.join()
            cast("IO[str]", self._process.stdin).close()
            self._process = None

    def admit(self, pod: Pod) -> Rejected | None:
        """See `Kubelet`."""
        self._pods[pod.uid] = pod
        self._tell_pods()
        return self._admit(pod)

    def remove(self, uid: str) -> None:
        """See `Kubelet`."""
        self._pods.pop(uid, None)
        self._tell_pods()

    def advance(self, seconds: int) -> None:
        """See `Kubelet`."""
        self._ask("advance", seconds=seconds)

    def tick(self) -> Seen:
        """See `Kubelet`."""
        self._status = self._ask("tick")
        return self._status

    def state(self, pods: Collection[Pod]) -> State:
        """See `Kubelet`."""
        said = self._ask("state", pods=[_spec(each) for each in pods])
        allocated = cast("dict[str, list[str]]", said["allocated"])
        held = cast("dict[str, dict[str, dict[str, list[str]]]]", said["held"])
        return State(
            _sorted(allocated),
            {
                uid: {name: _sorted(of) for name, of in containers.items()}
                for uid, containers in held.items()
            },
        )

    def options(self, pod: Pod, container: Container) -> Seen:
        """See `Kubelet`."""
        said = self._ask("options", pod=_spec(pod), container=container.name)
        if "error" in said:
            return said["error"]
        given = cast("dict[str, list[dict[str, object]] | None]", said["options"])
        return {
            "envs": {str(each["Name"]): each["Value"] for each in given["Envs"] or ()},
            "annotations": {
                str(each["Name"]): each["Value"] for each in given["Annotations"] or ()
            },
            "devices": sorted(
                [each["PathOnHost"], each["PathInContainer"], each["Permissions"]]
                for each in given["Devices"] or ()
            ),
            "mounts": sorted(
                [each["HostPath"], each["ContainerPath"], each["ReadOnly"]]
                for each in given["Mounts"] or ()
            ),
            "cdi": sorted(str(each["Name"]) for each in given["CDIDevices"] or ()),
        }

    def health(self, pod: Pod) -> Seen:
        """See `Kubelet`."""
        return self._ask("health", pod=_spec(pod))["health"]

    def resources(self) -> Seen:
        """See `Kubelet`."""
        return self._ask("resources")

    def lists(self, resource: str) -> int:
        """See `Kubelet`."""
        return cast("int", self._ask("lists", resource=resource)["lists"])

    def streams(self) -> int:
        """See `Kubelet`."""
        return cast("int", self._ask("streams")["streams"])

    def _admit(self, pod: Pod, *, knows: bool = True) -> Rejected | None:
        said = self._ask("admit", pod=_spec(pod))
        if "reason" not in said:
            return None
        del self._pods[pod.uid]
        self._tell_pods(knows=knows)
        return [str(said["reason"]), str(said["message"])]

    def _tell_pods(self, *, knows: bool = True) -> None:
        self._ask("pods", pods=[_spec(each) for each in self._pods.values()], knowsPods=knows)

    def _ask(self, op: str, **fields: object) -> _Answer:
        process = self._process
        if process is None:
            raise Crashed
        number = next(self._numbers)
        answers: queue.Queue[_Answer | None] = queue.Queue()
        self._waiting[number] = answers
        try:
            told = cast("IO[str]", process.stdin)
            told.write(json.dumps({"op": op, "id": number, **fields}) + "\n")
            told.flush()
        except BrokenPipeError as problem:
            raise Crashed from problem
        if (said := answers.get(timeout=_SECONDS)) is None:
            raise Crashed
        return said

    def _hear(self, lines: IO[str]) -> None:
        for line in lines:
            said: _Answer = json.loads(line)
            self._waiting.pop(cast("int", said.pop("id"))).put(said)
        for each in list(self._waiting.values()):
            each.put(None)
        lines.close()


def _sorted(devices: dict[str, list[str]]) -> dict[str, list[str]]:
    return {resource: sorted(ids) for resource, ids in devices.items() if ids}


def _spec(pod: Pod) -> dict[str, object]:
    return {
        "uid": pod.uid,
        "name": pod.name,
        "containers": [
            {"name": each.name, "kind": each.kind.value, "limits": dict(each.limits)}
            for each in pod.containers
        ],
    }
