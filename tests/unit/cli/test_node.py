"""`gpulab node`: what is printed, and with which code it ends."""

import json

import pytest

from lab.cli.main import run
from lab.cluster.access import Ability
from lab.install.kind.backend import KindBackend
from tests.unit.stand_ins.api_server import FakeApi
from tests.unit.stand_ins.node_access import FakeAccess

WORKER = "t-lab-worker"
Output = pytest.CaptureFixture[str]


@pytest.fixture
def access(lab: FakeApi, monkeypatch: pytest.MonkeyPatch) -> FakeAccess:
    """Return the way to the lab's nodes."""
    access = FakeAccess(lab)
    monkeypatch.setattr(KindBackend, "access", access)
    return access


def on_node(*arguments: str) -> int:
    """Run a command of `gpulab node`; return its exit code."""
    return run(["node", *arguments, "--name", "t-lab"])


@pytest.mark.usefixtures("access")
@pytest.mark.parametrize(
    ("command", "told", "following"),
    [
        ("restart-kubelet", "its kubelet was restarted, and it is Ready", "status"),
        ("restart", "it was restarted, and it is Ready", "status"),
        ("start-kubelet", "its kubelet runs: nothing to start", "status"),
        (
            "stop-kubelet",
            "its kubelet is stopped; Kubernetes notices after 40 seconds or more",
            f"node start-kubelet {WORKER}",
        ),
    ],
)
def test_what_was_done_is_said_and_what_comes_next(
    capsys: Output, command: str, told: str, following: str
) -> None:
    """In the fleet's words for the node, and the cluster's."""
    assert on_node(command, "chapter-0") == 0
    said = f"chapter-0 ({WORKER}): {told}\n\nNext:\n  gpulab {following} --name t-lab\n"
    assert capsys.readouterr().out == said


@pytest.mark.usefixtures("access")
def test_tools_get_json(capsys: Output) -> None:
    """The keys that the page of commands names."""
    assert on_node("restart", WORKER, "--output", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found.pop("seconds") < 60
    assert found == {"node": WORKER, "members": ["chapter-0"], "did": "restart"}


def test_a_stopped_kubelet_is_started(access: FakeAccess, capsys: Output) -> None:
    """By another command than the one that stopped it."""
    assert [on_node(f"{each}-kubelet", WORKER) for each in ("stop", "start")] == [0, 0]
    assert access.stopped == set()
    assert "its kubelet was started, and it is Ready" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "ability"), [("restart", "restart"), ("stop-kubelet", "stop_kubelet")]
)
def test_what_the_backend_cannot_do_is_code_3(
    access: FakeAccess, capsys: Output, command: str, ability: Ability
) -> None:
    """With the backend's reason."""
    access.can -= {ability}
    assert on_node(command, WORKER) == 3
    assert "the backend 'fake' cannot" in capsys.readouterr().err


@pytest.mark.usefixtures("access")
def test_a_node_that_is_not_there_is_code_2(capsys: Output) -> None:
    """Nothing was done."""
    assert on_node("restart", "nvidia-7") == 2
    assert "the lab has no node 'nvidia-7'" in capsys.readouterr().err


def test_a_node_that_does_not_come_back_is_code_4(access: FakeAccess) -> None:
    """After the time that was given."""
    access.mute = True
    assert on_node("restart", WORKER, "--timeout", "1") == 4
