"""One script on both kubelets, looking at everything after every step."""

import base64
import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final
from unittest.mock import patch

from fake_plugin.api.deviceplugin_pb2 import ContainerAllocateResponse
from lab.embedded.kubelet import allocation
from lab.embedded.kubelet.checkpoint import NAME
from lab.embedded.kubelet.containers import ContainerRecord
from lab.embedded.kubelet.pod import Container, Kind, Pod
from lab.embedded.profile import PROFILES
from tests.oracle.kubelet import Crashed, Rejected, Seen, State
from tests.oracle.real import Real
from tests.oracle.script import Script, Step
from tests.oracle.side import Side
from tests.oracle.simulated import Choices, Simulated, following

#: Of the module that the program is built from.
VERSION: Final = "1.36"
_CRASH: Final = '"the kubelet crashes"'
_STOPPED: Final = re.compile(r"endpoint &\{.*?\} has been stopped", re.DOTALL)
_NO_ANSWER: Final = re.compile(r"(no containers return in allocation response) .*, which")


@dataclass(frozen=True)
class Difference:
    """What the two said of the same thing, after so many steps of a script."""

    steps: int
    what: str
    real: str
    simulated: str


class _Over(Exception):
    """The script ends here: the two differ, or both die as they start."""


class Duel:
    """Runs one script; `seen` counts what was compared, by its kind and by what came of it."""

    def __init__(self, program: Path, script: Script, seen: Counter[str]) -> None:
        self._script = script
        self._seen = seen
        self._choices: Choices = {}
        self._work = Path(tempfile.mkdtemp(prefix="gpulab-k-"))
        real, simulated = self._work / "r", self._work / "s"
        profile = PROFILES[VERSION]
        self._sides = (
            Side(Real(program, real, script.policy), real),
            Side(Simulated(simulated, script.policy, profile), simulated),
        )
        self._pods: dict[str, Pod] = {}
        self._state = State()
        self._at = 0
        self._difference: Difference | None = None

    def run(self) -> Difference | None:
        """Return the first difference, or None; everything that was started is ended."""
        try:
            with patch.object(allocation, "Selection", following(self._choices)):
                self._restart()
                for step in self._script.steps:
                    self._at += 1
                    self._do(step)
        except _Over:
            return self._difference
        finally:
            for side in self._sides:
                side.kubelet.stop()
                for plugin in side.plugins.values():
                    plugin.stop()
            shutil.rmtree(self._work)
        return None

    def _do(self, step: Step) -> None:
        pods = list(self._pods.values())
        if step.op == "admit":
            self._admit(step.pod())
        elif step.op in {"restart", "swap"}:
            self._restart(step)
        elif step.op == "advance":
            for side in self._sides:
                side.kubelet.advance(step.seconds)
        elif step.op in {"remove", "start"} and pods:
            self._do_with(pods[step.number % len(pods)], step)
        else:
            self._do_with_plugin(step)
        self._look()

    def _do_with(self, pod: Pod, step: Step) -> None:
        if step.op == "remove":
            del self._pods[pod.uid]
            for side in self._sides:
                side.kubelet.remove(pod.uid)
            return
        for container in pod.containers:
            self._compare("container start", partial(self._begin, pod=pod, container=container))

    def _begin(self, side: Side, pod: Pod, container: Container) -> Seen:
        """Start a container, which gets its devices only now where it was let in without."""
        said = side.kubelet.options(pod, container)
        if side is self._sides[0]:
            self._take_down(side, [pod])
        return said

    def _do_with_plugin(self, step: Step) -> None:
        there = step.number in self._sides[0].plugins
        if step.op == "plugin" and not there:
            self._compare("registration", lambda side: side.register(step))
        for side in self._sides if there else ():
            if step.op == "list":
                side.send(step)
            elif step.op in {"die", "end"}:
                side.lose(step.number, by_stream=step.op == "end")

    def _admit(self, pod: Pod) -> None:
        self._pods[pod.uid] = pod
        said = self._compare("admission", lambda side: self._follow(side, pod))
        if said != "null":
            del self._pods[pod.uid]
        if said == _CRASH:
            self._restart()

    def _follow(self, side: Side, pod: Pod) -> Seen:
        """Admit on one side; what the real one has taken is what ours tries to take."""
        said = _without_chance(pod, side.kubelet.admit(pod))
        if side is self._sides[0]:
            self._take_down(side, [pod])
        return said

    def _take_down(self, side: Side, pods: Collection[Pod]) -> None:
        state = side.kubelet.state(pods)
        for pod in pods:
            for each in pod.containers:
                for resource in each.limits:
                    held = state.held.get(pod.uid, {}).get(each.name, {}).get(resource)
                    before = self._state.allocated.get(resource, [])
                    leaked = [i for i in state.allocated.get(resource, []) if i not in before]
                    self._choices[pod.uid, each.name, resource] = held or leaked

    def _restart(self, step: Step | None = None) -> None:
        """Kill both kubelets and their plugins, and start the kubelets again."""
        for side in self._sides:
            side.kubelet.stop()
            for plugin in side.plugins.values():
                plugin.stop()
            side.plugins.clear()
        if step and step.op == "swap":
            self._hand_over_checkpoint(step.number)
        records = self._records(step.number if step else 0)
        pods = list(self._pods.values())

        def start(side: Side) -> Seen:
            rejected = side.kubelet.start(pods, records)
            if side is self._sides[0]:
                self._take_down(side, pods)
            by_uid = {pod.uid: pod for pod in pods}
            return {uid: _without_chance(by_uid[uid], said) for uid, said in rejected.items()}

        said = self._compare("kubelet start", start)
        if said == _CRASH:
            raise _Over
        for uid in json.loads(said):
            self._pods.pop(uid, None)

    def _records(self, number: int) -> list[ContainerRecord]:
        """Return what the runtime has: nothing after a reboot, else what would be there."""
        if number % 3 == 0:
            return []
        return [
            ContainerRecord(pod.uid, each.name, running=each.kind is not Kind.INIT)
            for pod in self._pods.values()
            for each in pod.containers
        ]

    def _hand_over_checkpoint(self, number: int) -> None:
        """Let one side go on with the file of the other, which it has to be able to read.

        Not both at once: two that could not read each other's would forget the same.
        """
        places = [side.folder / NAME for side in self._sides]
        giver, taker = places if number % 2 else reversed(places)
        if giver.exists():
            taker.write_bytes(giver.read_bytes())

    def _look(self) -> None:
        """Compare all that can be looked at."""
        self._compare("node status", lambda side: side.kubelet.tick())
        self._compare("calls of plugins", Side.calls)
        self._compare("checkpoint", lambda side: _checkpoint(side.folder / NAME))
        self._compare("pod resources", lambda side: side.kubelet.resources())
        self._compare("devices held", lambda side: asdict(side.kubelet.state(self._pods.values())))
        self._state = self._sides[0].kubelet.state(())
        for pod in self._pods.values():
            self._compare("health in pod status", partial(_health, pod=pod))

    def _compare(self, what: str, look: Callable[[Side], Seen]) -> str:
        real, simulated = (_text(side, look) for side in self._sides)
        self._seen[what] += 1
        if real != simulated:
            self._difference = Difference(self._at, what, real, simulated)
            raise _Over
        return real


def _without_chance(pod: Pod, rejection: Rejected | None) -> Seen:
    """Leave open which of several resources a pod was told of that the node has too little of."""
    if rejection and rejection[0].startswith("OutOf") and len(pod.request()) > 1:
        return ["OutOf", "one of several resources"]
    return rejection


def _health(side: Side, pod: Pod) -> Seen:
    return side.kubelet.health(pod)


def _text(side: Side, look: Callable[[Side], Seen]) -> str:
    try:
        said = look(side)
    except Crashed:
        return _CRASH
    text = json.dumps(_ordered(said), sort_keys=True).replace(str(side.folder), "FOLDER")
    # Addresses in the dump of a structure, and a message whose text form is random by design.
    text = _STOPPED.sub("endpoint has been stopped", text)
    return _NO_ANSWER.sub(r"\1, which", text)


def _ordered(said: Seen) -> Seen:
    """Return the same with all lists of objects sorted: their order is random on both sides."""
    if isinstance(said, dict):
        return {str(key): _ordered(value) for key, value in said.items()}
    if isinstance(said, list) and all(isinstance(each, dict) for each in said):
        return sorted((_ordered(each) for each in said), key=json.dumps)
    return said


def _checkpoint(path: Path) -> Seen:
    if not path.exists():
        return None
    data = json.loads(path.read_text())["Data"]
    for entry in data["PodDeviceEntries"] or ():
        entry["DeviceIDs"] = {node: sorted(ids) for node, ids in entry["DeviceIDs"].items()}
        answer = ContainerAllocateResponse.FromString(base64.b64decode(entry["AllocResp"]))
        entry["AllocResp"] = sorted(str(answer).splitlines())
    data["RegisteredDevices"] = {
        name: sorted(ids) for name, ids in (data["RegisteredDevices"] or {}).items()
    }
    return data
