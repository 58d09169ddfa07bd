"""The namespace of a test, which is there for its block and goes with all that holds devices."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.cluster.advice import Advice
from lab.cluster.connection import ApiFailed, Json
from lab.cluster.record import LabFolder
from lab.core.errors import CheckFailed, CleanUpFailed, TimedOut
from lab.core.fleet import Fleet
from lab.harness.lab import Lab
from lab.harness.namespace import opened
from lab.harness.node import NodeHandle
from lab.harness.recording import Case
from lab.harness.results import results_in
from lab.harness.run import Run
from lab.harness.running import run
from lab.harness.scenario import scenario
from lab.harness.view import View
from tests.unit.harness.cluster import Cluster

if TYPE_CHECKING:
    from lab.install.status import RunningLab


@dataclass
class Server:
    """An API server that takes note of what it is asked for."""

    asked: list[str] = field(default_factory=list)
    account: bool = True
    refusal: int = HTTPStatus.NOT_FOUND
    left: list[Json] = field(default_factory=list)
    advice: Advice | None = None

    def create(self, manifest: Json) -> None:
        """Take note of a namespace."""
        self.asked.append(f"create {manifest['metadata']['name']}")

    def delete(self, manifest: Json) -> None:
        """Take note of a namespace that goes."""
        self.asked.append(f"delete {manifest['metadata']['name']}")

    def get(self, path: str, query: Sequence[tuple[str, str]] = ()) -> Json:
        """Return the namespaces with a label, or look for the service account."""
        if path == "/api/v1/namespaces":
            assert [*query] == [("labelSelector", "gpu-lab/test=t-lab")]
            return {"items": self.left}
        if not self.account:
            raise ApiFailed("there is no such account", where=path, status=self.refusal)
        return {}

    def send(self, method: str, path: str, body: Json) -> None:
        """Take note of pods that are to end."""
        self.asked.append(f"{method} {path} {body}")


@pytest.fixture
def server() -> Server:
    """Return the server."""
    return Server()


@pytest.fixture
def running(
    server: Server, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> "RunningLab":
    """Return a lab on that server, whose cluster is seen without watches."""

    @contextmanager
    def viewing(*_: object) -> Iterator[View]:
        yield cluster.view

    monkeypatch.setattr("lab.harness.namespace.viewing", viewing)
    server.advice = Advice("t-lab", "kind", tmp_path / "kubeconfig")
    client = SimpleNamespace(connection=server, create=server.create, delete=server.delete)
    own = LabFolder(tmp_path / "t-lab")
    folder = SimpleNamespace(
        kubeconfig="/my lab/kubeconfig",
        known_token=lambda: "",
        under_test=own.under_test,
        write_text=own.write_text,
    )
    own.path.mkdir()
    found: Any = SimpleNamespace(
        client=client,
        folder=folder,
        record=SimpleNamespace(name="t-lab", backend="kind"),
        deployed_fleet=lambda: Fleet.default().placed_on(("worker",)),
    )
    return cast("RunningLab", found)


GONE = ["create ns", "delete ns", "DELETE /api/v1/namespaces/ns/pods {'gracePeriodSeconds': 1}"]


def test_it_has_gone_with_its_pods_when_the_block_has_ended(
    running: "RunningLab", server: Server, cluster: Cluster
) -> None:
    """The next test may count on their devices."""
    with opened(running, "ns") as lab:
        assert (lab.namespace, server.asked) == ("ns", GONE[:1])
        cluster.pod("holder")
        cluster.clock.at(3, lambda: cluster.pods.remove("holder", "ns"))
    assert (server.asked, cluster.clock.now()) == (GONE, 3)


def test_it_goes_after_an_error_too(running: "RunningLab", server: Server) -> None:
    """Which is the error that is told."""
    with pytest.raises(ZeroDivisionError), opened(running, "ns"):
        raise ZeroDivisionError
    assert server.asked == GONE


def test_what_a_killed_test_has_left_goes_before_the_next_begins(
    running: "RunningLab", server: Server, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pods hold devices; a namespace that is going already is let go."""
    put_right: list[str] = []
    monkeypatch.setattr(NodeHandle, "put_right", lambda node: put_right.append(node.name))
    going = {"name": "going", "deletionTimestamp": "2026-12-01T12:00:00Z"}
    server.left = [{"metadata": {"name": "killed"}}, {"metadata": going}]
    cluster.pod("holder")
    cluster.clock.at(3, lambda: cluster.pods.remove("holder", "ns"))
    with opened(running, "ns"):
        assert put_right == ["worker"]
        assert cluster.clock.now() == 3
    killed = ["delete killed", GONE[2].replace("/ns/", "/killed/")]
    assert server.asked == [*killed, *GONE]


def undo_fails() -> None:
    """Undo nothing."""
    raise CheckFailed("the kubelet does not start")


def test_what_a_test_could_not_undo_is_put_right_before_the_next(
    running: "RunningLab", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though its namespace has gone; once that is done, nothing is left to do."""
    put_right: list[str] = []
    monkeypatch.setattr(NodeHandle, "put_right", lambda node: put_right.append(node.name))
    with pytest.raises(CheckFailed), opened(running, "ns") as lab, lab.afterwards:
        lab.afterwards.once("kubelet", undo=undo_fails)
    with opened(running, "ns") as lab, lab.afterwards:
        assert put_right == ["worker"]
    with opened(running, "ns"):
        assert put_right == ["worker"]


def test_pods_that_do_not_go_are_told(running: "RunningLab", cluster: Cluster) -> None:
    """With what shows who holds them."""
    with pytest.raises(CleanUpFailed) as raised, opened(running, "ns"):
        cluster.pod("holder")
    assert raised.value.what == "pods of a test did not go within 90 s"
    assert raised.value.seen == "still there: holder"
    assert raised.value.commands == (
        "kubectl --kubeconfig '/my lab/kubeconfig' describe pods --namespace ns",
    )


def test_pods_on_a_node_that_is_lost_are_not_waited_for(
    running: "RunningLab", cluster: Cluster
) -> None:
    """Nobody but its kubelet lets them go; one on another node may go yet."""
    cluster.node("worker", ready=False, lost=True)
    cluster.node("other")
    cluster.clock.at(4, lambda: cluster.pods.remove("goes", "ns"))
    cluster.pod("holder", node="worker")
    cluster.pod("goes", node="other")
    with pytest.raises(CleanUpFailed) as raised, opened(running, "ns"):
        pass
    assert raised.value.what == "pods of a test did not go; given up after 4 s"
    assert raised.value.seen == "still there: holder on worker, whose kubelet does not report"
    assert raised.value.commands[0] == "docker ps --all --filter 'name=^worker$'"


def test_a_scenario_that_fails_and_leaves_pods_has_its_own_error(
    running: "RunningLab", cluster: Cluster, tmp_path: Path
) -> None:
    """What keeps its pods is told beside that, and not in its place."""

    def fails(_: Lab) -> None:
        """Show that it is so."""
        cluster.pod("holder")
        raise CheckFailed("it is not so")

    made = scenario(section="4.1", en="It is so", zh="就是这样", zh_why="就是这样。")(fails)
    cluster.node()
    with pytest.raises(CheckFailed) as raised:
        run(made, running, Case(Run(tmp_path / "results", "r"), "fails"), clock=cluster.clock)
    first, beside, *_ = str(raised.value).splitlines()
    assert (first, beside) == ("it is not so", "pods of a test did not go within 90 s")


def test_a_scenario_whose_namespace_does_not_go_has_failed(
    running: "RunningLab", cluster: Cluster, tmp_path: Path
) -> None:
    """Though all that it expects was so: its result is that of the run."""

    def holds(_: Lab) -> None:
        """Show that it is so."""
        cluster.pod("holder")

    made = scenario(section="4.1", en="It is so", zh="就是这样", zh_why="就是这样。")(holds)
    cluster.node()
    with pytest.raises(CleanUpFailed):
        run(made, running, Case(Run(tmp_path / "results", "r"), "holds"), clock=cluster.clock)
    (found,) = results_in(tmp_path / "results")
    assert found.result.verdict == "failed"
    assert found.result.report.startswith("pods of a test did not go within 90 s")


def test_it_stays_where_the_lab_is_left_as_it_is(running: "RunningLab", server: Server) -> None:
    """Somebody wants to look at the pods."""
    with opened(running, "ns") as lab:
        lab.afterwards.leave()
    assert server.asked == GONE[:1]


def test_its_service_account_is_waited_for(
    running: "RunningLab", server: Server, cluster: Cluster
) -> None:
    """Without it the API server refuses every pod."""
    server.account = False
    cluster.clock.at(2, lambda: setattr(server, "account", True))
    with opened(running, "ns"):
        assert cluster.clock.now() == 2


def test_a_server_that_refuses_to_show_the_account_is_told_at_once(
    running: "RunningLab", server: Server, cluster: Cluster
) -> None:
    """No wait makes it another answer, and it is not that the account is late."""
    server.account, server.refusal = False, HTTPStatus.FORBIDDEN
    with pytest.raises(ApiFailed) as raised, opened(running, "ns"):
        pytest.fail("it is not usable")
    assert raised.value.status == HTTPStatus.FORBIDDEN
    assert (server.asked, cluster.clock.now()) == (GONE, 0)


def test_a_namespace_that_gets_no_account_is_told_and_removed(
    running: "RunningLab", server: Server
) -> None:
    """A controller manager that does not run makes none."""
    server.account = False
    with pytest.raises(TimedOut) as raised, opened(running, "ns"):
        pytest.fail("it is not usable")
    assert raised.value.what == "the namespace was not usable within 30 s"
    assert raised.value.seen == "it has no service account `default` yet"
    assert server.asked == GONE
