"""What happens to a node, step by step: made from a seed, and written down to be done again.

A step names plugins and pods by number. One that names what is not there does nothing, so that a
script stays one when steps are taken out of it.
"""

import json
import random
from dataclasses import asdict, dataclass, field
from typing import Final

from lab.embedded.kubelet.pod import Container, Kind, Pod
from lab.embedded.kubelet.topology import Policy

RESOURCES: Final = ("a.com/x", "b.com/x")
#: How a plugin behaves; most are well.
MODES: Final = (
    "prefers", "prefers", "prefers", "plain", "plain", "pre-start", "pre-start-fails", "refuses",
    "answers-nothing", "preference-fails", "prefers-others", "flaps-in-allocate",
)  # fmt: skip
_OPS: Final = {
    "plugin": 3, "list": 5, "die": 1, "end": 1, "admit": 14, "remove": 6, "start": 4, "advance": 1,
    "restart": 1, "swap": 1,
}  # fmt: skip
_DEVICES: Final = "cdefgh"


@dataclass(frozen=True)
class Step:
    """One step; which fields count depends on `op`."""

    op: str
    #: Of the plugin, pod or container.
    number: int = 0
    resource: str = ""
    mode: str = ""
    #: Of each device: its ID, its health, its NUMA nodes or None.
    devices: list[tuple[str, str, list[int] | None]] = field(default_factory=list)
    #: Of each container: its name, kind, resource and count.
    containers: list[tuple[str, str, str, int]] = field(default_factory=list)
    seconds: int = 0

    def pod(self) -> Pod:
        """Return the pod of an admission."""
        uid = f"uid-{self.number}"
        containers = tuple(
            Container(name, {resource: count}, Kind(kind))
            for name, kind, resource, count in self.containers
        )
        return Pod(uid, f"pod-{self.number}", containers)

    def text(self) -> str:
        """Return it as a line of a file."""
        return json.dumps({name: value for name, value in asdict(self).items() if value})


@dataclass(frozen=True)
class Script:
    """A node's policy, and what happens on it."""

    policy: Policy
    steps: tuple[Step, ...]

    def text(self) -> str:
        """Return it as a file to replay."""
        return "\n".join([json.dumps({"policy": self.policy.value}), *map(Step.text, self.steps)])


def read_script(text: str) -> Script:
    """Return what `Script.text` wrote."""
    first, *rest = text.strip().splitlines()
    steps = (Step(**json.loads(line)) for line in rest)
    return Script(Policy(json.loads(first)["policy"]), tuple(steps))


def random_script(seed: int, length: int) -> Script:
    """Return the script of a seed."""
    rng = random.Random(seed)  # noqa: S311 - it is to be repeated, not secret
    policy = rng.choice(list(Policy))
    ops = ["plugin", "list", *rng.choices(list(_OPS), list(_OPS.values()), k=length)]
    plugins = 0
    steps: list[Step] = []
    for number, op in enumerate(ops):
        steps.append(_step(op, number, plugins, rng))
        if op == "plugin":
            steps.append(_step("list", number, plugins + 1, rng, newest=True))
            plugins += 1
    return Script(policy, tuple(steps))


def _step(op: str, number: int, plugins: int, rng: random.Random, *, newest: bool = False) -> Step:
    if op == "plugin":
        return Step(op, plugins, rng.choice(RESOURCES), rng.choice(MODES))
    if op in {"list", "die", "end"}:
        which = plugins - 1 if newest else rng.randrange(max(plugins - 3, 0), max(plugins, 1))
        return Step(op, which, devices=_devices(rng) if op == "list" else [])
    if op == "admit":
        return Step(op, number, containers=_containers(rng))
    if op == "advance":
        return Step(op, seconds=rng.choice([70, 280, 301]))
    return Step(op, rng.randrange(1000))


def _devices(rng: random.Random) -> list[tuple[str, str, list[int] | None]]:
    knows_numa = rng.choices([True, False], [4, 1])[0]
    found = []
    for device in _DEVICES:
        health = rng.choices(["Healthy", "Unhealthy", "", None], [8, 2, 1, 1])[0]
        if health is not None:
            numa = [[0], [1], [0, 1], [], [7]]
            nodes = rng.choices(numa, [8, 8, 1, 1, 1])[0] if knows_numa else None
            found.append((device, health, nodes))
    return found


def _containers(rng: random.Random) -> list[tuple[str, str, str, int]]:
    main = rng.choice(RESOURCES)
    kinds = [
        *rng.choices([[], ["init"], ["sidecar"], ["init", "sidecar", "init"]], [12, 4, 3, 1])[0],
        *rng.choices([["app"], ["app", "app"]], [4, 1])[0],
    ]
    return [
        (
            f"{kind}{at}",
            kind,
            rng.choices([main, *RESOURCES], [8, 1, 1])[0],
            rng.randint(0, 3),
        )
        for at, kind in enumerate(kinds)
    ]
