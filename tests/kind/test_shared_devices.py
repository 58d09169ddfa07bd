"""No two containers ever hold one device, whatever happens to pods, devices, plugin and kubelet."""

import json
from collections.abc import Iterator
from typing import Literal

import pytest
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st

from tests.kind.machine import Lab, Machine, wait_until

NAME = "t-random"
RESOURCE = "cards.example.com/device"
COUNT = 6
FLEET = {
    "apiVersion": "gpu-lab/v1",
    "kind": "Fleet",
    "pools": [{"name": "cards", "nodes": 1, "resource": RESOURCE, "count": COUNT}],
}
EVENTS = 200

Event = tuple[Literal["create", "delete", "break", "mend", "plugin", "kubelet"], int]
#: Weights: most of the time pods come and go.
NAMES = ["create"] * 8 + ["delete"] * 6 + ["break"] * 3 + ["mend"] * 3 + ["plugin"] + ["kubelet"]
EVENT_LISTS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, COUNT - 1)), min_size=EVENTS, max_size=EVENTS
)


@pytest.fixture(scope="module")
def lab(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Return a lab with six devices on one worker."""
    with machine.lab_of_fleet(NAME, tmp_path_factory.mktemp("random"), json.dumps(FLEET)) as lab:
        yield lab


class Pods:
    """The pods that hold devices, and what each container said that it sees."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._made = 0
        self._seen: dict[str, frozenset[str]] = {}
        self.checked = 0

    def happen(self, event: Event) -> None:
        """Let one thing happen."""
        what, number = event
        if what == "create":
            self._create(1 + number % 2)
        elif what == "delete":
            self._delete(number)
        elif what in {"break", "mend"}:
            command = "unhealthy" if what == "break" else "healthy"
            ended = self._lab.machine.gpulab("inject", command, f"cards/{number}", "--name", NAME)
            # The plugin may be the one that has just been replaced.
            assert ended.returncode in {0, 1}, ended.stderr
        elif what == "plugin":
            selector = "app=fake-gpu-device-plugin"
            self._lab.kubectl("delete", "pod", "-n", "kube-system", "-l", selector, "--now")
        else:
            self._lab.in_worker("systemctl", "restart", "kubelet")

    def check(self) -> None:
        """Compare what the containers that run see."""
        held: dict[str, str] = {}
        for pod in self._lab.get("pods")["items"]:
            name = pod["metadata"]["name"]
            if pod["status"]["phase"] != "Running":
                continue
            for device in self._devices_of(name):
                holder = held.setdefault(device, name)
                assert holder == name, f"{holder} and {name} both hold {device}"
        self.checked += len(held)

    def _create(self, count: int) -> None:
        self._made += 1
        self._lab.start_pod(f"pod{self._made}", {RESOURCE: count})

    def _delete(self, number: int) -> None:
        pods = sorted(pod["metadata"]["name"] for pod in self._lab.get("pods")["items"])
        if pods:
            self._lab.kubectl("delete", "pod", pods[number % len(pods)], "--now", "--wait")

    def _devices_of(self, pod: str) -> frozenset[str]:
        if pod not in self._seen:
            # A container may have been started and not yet have written its line.
            wait_until(lambda: bool(self._said_by(pod)), f"{pod} says what it sees")
            self._seen[pod] = frozenset(self._said_by(pod).split(","))
        return self._seen[pod]

    def _said_by(self, pod: str) -> str:
        return self._lab.kubectl("logs", pod, check=False).stdout.strip()


@pytest.mark.timeout(1500)
@seed(20261202)
@settings(
    max_examples=1,
    phases=[Phase.generate],
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(events=EVENT_LISTS)
def test_no_two_pods_hold_one_device(lab: Lab, events: list[Event]) -> None:
    """200 events in a random order, and after each the containers are compared."""
    # The first example of hypothesis is the simplest: 200 times the same.
    assume(len(set(events)) > len(NAMES))
    pods = Pods(lab)
    for event in events:
        pods.happen(event)
        pods.check()
    assert pods.checked > EVENTS
