"""A scenario from its namespace to its result, by the parts that a real lab has."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.cluster.connection import ApiFailed, Json
from lab.cluster.kinds import Kinds
from lab.cluster.objects import Pod
from lab.cluster.record import LabFolder
from lab.core.errors import CheckFailed
from lab.core.fleet import Fleet, Pool
from lab.harness import recording
from lab.harness.evidence import Evidence
from lab.harness.failure import ExpectationFailed
from lab.harness.lab import Lab
from lab.harness.recording import Case
from lab.harness.results import Result, results_in
from lab.harness.run import Run
from lab.harness.running import run
from lab.harness.scenario import scenario
from lab.harness.view import View
from lab.harness.workloads import pod
from tests.unit.harness.cluster import GPU, NOON, Cluster, a_pod, running
from tests.unit.harness.kinds import KINDS

if TYPE_CHECKING:
    from lab.install.status import RunningLab


@dataclass
class Server:
    """Runs each pod on the node `w` as soon as it is made; takes note of the rest."""

    cluster: Cluster
    asked: list[str] = field(default_factory=list)
    namespaces: list[str] = field(default_factory=list)
    kinds: Kinds = KINDS

    @property
    def connection(self) -> "Server":
        """Answer for the connection as well."""
        return self

    def version(self) -> str:
        """Return the server's version."""
        return "v1.36.3"

    def create(self, manifest: Json) -> None:
        """Take a namespace, or let a pod run."""
        name = manifest["metadata"]["name"]
        if manifest["kind"] == "Pod":
            inside = manifest["metadata"]["namespace"]
            if inside not in self.namespaces:
                raise ApiFailed("there is no such namespace", where=inside, status=404)
            made = replace(
                a_pod(name), namespace=inside, node="w", phase="Running", containers=(running(),)
            )
            self.cluster.pods.put(made, name, inside)
        else:
            self.namespaces.append(name)
        self.asked.append(f"create {manifest['kind']}")

    def delete(self, manifest: Json) -> None:
        """Let an object go, of a namespace all that is in it."""
        for each in self.cluster.pods.all():
            self.cluster.pods.remove(each.name, each.namespace)
        self.asked.append(f"delete {manifest['kind']}")

    def pods(self, *_: object) -> tuple[Pod, ...]:
        """Return no pods."""
        return ()

    def logs(self, *_: object) -> str:
        """Return a log in which nothing is."""
        return ""

    def get(self, path: str, query: object = ()) -> Json:
        """Have no namespaces, the account of each, and nothing that only evidence is made of."""
        del query
        if path == "/api/v1/namespaces":
            return {"items": []}
        if path.endswith("/serviceaccounts/default"):
            return {}
        raise ApiFailed("there is none", where=path, status=404)

    def send(self, *_: object, **__: object) -> None:
        """Do as one is told."""


@pytest.fixture
def server(cluster: Cluster) -> Server:
    """Return the server of a cluster with one node, and its plugin."""
    cluster.node()
    plugin = replace(a_pod("plugin"), node="w", phase="Running", containers=(running(),))
    cluster.plugins.put(plugin, "plugin", "kube-system")
    return Server(cluster)


@pytest.fixture
def on_it(
    server: Server,
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> "RunningLab":
    """Return the lab, whose cluster is seen without watches."""
    own = LabFolder(tmp_path_factory.mktemp("t"))

    @contextmanager
    def viewing(*_: object) -> Iterator[View]:
        yield cluster.view

    monkeypatch.setattr("lab.harness.namespace.viewing", viewing)
    fleet = Fleet((Pool("nvidia", 1, GPU, 8),)).placed_on(("w",))
    found: Any = SimpleNamespace(
        client=server,
        folder=SimpleNamespace(
            under_test=own.under_test,
            write_text=own.write_text,
            kubeconfig="kubeconfig",
            known_token=lambda: "",
            placed_fleet=lambda: fleet,
        ),
        record=SimpleNamespace(name="t", backend="kind"),
        access=SimpleNamespace(can=frozenset()),
        deployed_fleet=lambda: fleet,
    )
    return cast("RunningLab", found)


@scenario(section="4.1", en="It is so", zh="就是这样", zh_why="就是这样。")
def holds(lab: Lab) -> None:
    """Show that a pod runs on a node of eight devices."""
    holder = lab.submit(pod("holder", limits={lab.resource: 1}))
    lab.expect(holder).running().on(lab.node("nvidia-0").name)
    lab.expect(lab.node()).allocatable(8)


@scenario(section="4.1", en="It is so", zh="就是这样", zh_why="就是这样。")
def fails(lab: Lab) -> None:
    """Expect more devices than there are."""
    lab.expect(lab.node()).allocatable(9, within=1)


def only_result(folder: Path) -> Result:
    """Return the one result of a folder."""
    (found,) = results_in(folder)
    return found.result


def timelines(result: Result) -> list[dict[str, object]]:
    """Return how the test's pods came to their devices, as long as they were there."""
    return [cast("dict[str, object]", each) for each in result.timelines]


@scenario(section="4.1", en="It is so", zh="就是这样", zh_why="就是这样。")
def breaks(lab: Lab) -> None:
    """Fail with a pod that has a device, and something that is to be undone."""
    lab.submit(pod("holder", limits={lab.resource: 1}))
    told = cast("Server", lab.running.client).asked
    lab.afterwards.once("kubelet", undo=lambda: told.append("undone"))
    raise CheckFailed("not so")


def test_what_failed_is_looked_at_before_it_is_undone_and_undone_before_the_pods_go(
    on_it: "RunningLab",
    server: Server,
    cluster: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Evidence is of the lab as it failed, and a kubelet that does not run ends no pods."""

    def collect(kept: Evidence, *_: object) -> None:
        server.asked.append("evidence")
        kept.timelines.append({"pod": "holder"})

    monkeypatch.setattr(recording, "collect", collect)
    with pytest.raises(CheckFailed):
        run(breaks, on_it, Case(Run(tmp_path, "run"), "breaks"), clock=cluster.clock)
    done = ["create Namespace", "create Pod", "evidence", "undone", "delete Namespace"]
    assert server.asked == done
    assert [each["pod"] for each in timelines(only_result(tmp_path))] == ["holder"]


def test_a_scenario_that_gets_no_namespace_has_failed(
    on_it: "RunningLab",
    server: Server,
    cluster: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its result says why: the one that is there would only say that nobody saw its end."""
    refusal = ApiFailed("the API server refused", seen="quota exceeded", status=403)

    def refuse(_: Json) -> None:
        raise refusal

    monkeypatch.setattr(server, "create", refuse)
    case = Case(Run(tmp_path, "run"), "holds")
    case.begun()
    with pytest.raises(ApiFailed):
        run(holds, on_it, case, clock=cluster.clock)
    result = only_result(tmp_path)
    assert (result.verdict, result.report) == ("failed", str(refusal))


def test_a_scenario_that_holds_leaves_its_result_and_nothing_else(
    on_it: "RunningLab", server: Server, cluster: Cluster, tmp_path: Path
) -> None:
    """What it says to the lab comes to the cluster, and what is in the cluster comes to it."""
    run(holds, on_it, Case(Run(tmp_path, "run"), "holds"), clock=cluster.clock)
    result = only_result(tmp_path)
    assert (result.test, result.verdict, result.backend) == ("holds", "passed", "kind")
    assert [each["pod"] for each in timelines(result)] == ["holder"]
    assert server.asked == ["create Namespace", "create Pod", "delete Namespace"]


def test_a_failure_is_told_though_nothing_can_be_written_of_it(
    on_it: "RunningLab", cluster: Cluster, tmp_path: Path
) -> None:
    """What cannot be written comes after it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ExpectationFailed) as raised:
        run(fails, on_it, Case(Run(tmp_path / "file", "run"), "fails"), clock=cluster.clock)
    told = raised.value.render()
    assert told.startswith("node nvidia-0 (w): expected: ")
    assert "\nthe evidence of a failed test cannot be written\n" in told


def test_a_scenario_that_fails_says_of_which_node_and_what_is_there(
    on_it: "RunningLab", server: Server, cluster: Cluster, tmp_path: Path
) -> None:
    """The lab's own commands are those to look on, and its namespace goes all the same."""
    with pytest.raises(ExpectationFailed) as raised:
        run(fails, on_it, Case(Run(tmp_path, "run"), "fails"), clock=cluster.clock)
    assert raised.value.what.startswith("node nvidia-0 (w): expected: ")
    assert raised.value.commands == (
        "kubectl --kubeconfig kubeconfig describe node w",
        "gpulab status --name t",
    )
    result = only_result(tmp_path)
    assert (result.test, result.verdict) == ("fails", "failed")
    assert (result.started, result.seconds) == (NOON, 1.0)
    assert server.asked == ["create Namespace", "delete Namespace"]
