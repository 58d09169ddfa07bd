"""Which files are gathered of a lab, and where what is in each comes from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.cluster.connection import Json
from lab.cluster.objects import Container, Pod
from lab.cluster.plugin.journal import Call
from lab.core.fleet import Fleet, Pool
from lab.harness.evidence import sources as module
from lab.harness.evidence.sources import sources
from lab.harness.lab import Lab
from lab.harness.node import NodeHandle
from tests.unit.harness.cluster import GPU, NOON, Cluster, a_pod, running
from tests.unit.stand_ins.api_server import FakeApi
from tests.unit.stand_ins.node_access import FakeAccess

if TYPE_CHECKING:
    from lab.install.status import RunningLab

ASKED = Call(time=NOON, call="Allocate", resource=GPU, started=0, request={}, sent=1, fault="")


@dataclass
class Server:
    """Has at each path an object that says so, and logs that say what of them was asked for."""

    @property
    def connection(self) -> "Server":
        """Answer for the connection as well."""
        return self

    def get(self, path: str) -> Json:
        """Return the objects of a path."""
        return {"items": [path]}

    def logs(self, pod: Pod, *, tail: int, most: int, container: str) -> str:
        """Return the words of a container."""
        return f"{tail} lines, {most} bytes of {pod.name}/{container}"

    def has_rotated(self, pod: Pod, container: str) -> bool:
        """Say that no log was cut."""
        return not (pod.name and container)


@pytest.fixture
def access() -> FakeAccess:
    """Return what the backend can do to nodes."""
    return FakeAccess(FakeApi())


@pytest.fixture
def lab(
    cluster: Cluster, access: FakeAccess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Lab:
    """Return a lab of one node, which has a plugin."""
    (tmp_path / "fleet.yaml").write_text("the fleet")
    found = SimpleNamespace(
        client=Server(), access=access, folder=SimpleNamespace(fleet=tmp_path / "fleet.yaml")
    )
    overview = SimpleNamespace(lines=lambda: ("one line", "and another"))
    asked = SimpleNamespace(journal=lambda: ASKED, overview=lambda: overview)
    monkeypatch.setattr(NodeHandle, "reading", asked)

    def told(*of: object) -> object:
        return SimpleNamespace(as_json=lambda: [str(each) for each in of[1:3]])

    monkeypatch.setattr(module, "timeline_of", told)
    a_plugin(cluster)
    fleet = Fleet((Pool("nvidia", 1, GPU, 8),)).placed_on(("w",))
    return Lab(cast("RunningLab", found), fleet, "ns", cluster.view)


def a_plugin(cluster: Cluster, name: str = "plugin-1", **facts: Any) -> None:  # noqa: ANN401 - any field of a Pod
    """Let the node have a plugin, or one that is so."""
    plugin = replace(a_pod(name), **{"node": "w", **facts})
    cluster.plugins.put(plugin, name, "kube-system")


def gathered(lab: Lab) -> dict[str, object]:
    """Return what is in each file."""
    found = [(each.file, each.read()) for each in sources(lab, NOON)]
    assert len(found) == len(dict(found))
    return dict(found)


def logs(found: dict[str, object], *folders: Sequence[str]) -> dict[str, object]:
    """Return the files of some folders, without the words that all logs begin with."""
    return {
        name: str(each).removeprefix("2000 lines, 1048576 bytes of ")
        for name, each in found.items()
        if name.startswith(tuple(f"{folder}/" for folder in folders))
    }


def test_of_the_cluster_the_objects_are_gathered(lab: Lab) -> None:
    """Of the test's namespace, and of the nodes, which are in none."""
    found = gathered(lab)
    assert {name: each for name, each in found.items() if "/" not in name} == {
        "pods.json": ["/api/v1/namespaces/ns/pods"],
        "events.json": ["/api/v1/namespaces/ns/events"],
        "node-events.json": ["/api/v1/namespaces/default/events"],
        "nodes.json": ["/api/v1/nodes"],
        "fleet.yaml": "the fleet",
    }


def test_of_a_pod_the_logs_of_all_containers_that_started_are_gathered(
    lab: Lab, cluster: Cluster
) -> None:
    """Each by its name, bounded in lines and bytes; one that never started has none."""
    never = Container("never", "waiting", reason="ErrImagePull")
    cluster.pod(
        "p", init_containers=(running("first"),), containers=(running(), running("b"), never)
    )
    found = gathered(lab)
    assert found["pods/p.main.log"] == "2000 lines, 1048576 bytes of p/main"
    assert logs(found, "pods") == {
        "pods/p.first.log": "p/first",
        "pods/p.main.log": "p/main",
        "pods/p.b.log": "p/b",
    }


def test_of_a_pod_that_asks_for_devices_its_way_to_them_is_gathered(
    lab: Lab, cluster: Cluster
) -> None:
    """Of another one there is none."""
    cluster.pod("p")
    cluster.pod("q", requests={"cpu": 1})
    timelines = {name: each for name, each in gathered(lab).items() if "timelines" in name}
    assert timelines == {"timelines/p.json": ["ns", "p"]}


def test_of_a_node_all_that_its_plugin_and_its_kubelet_know_is_gathered(lab: Lab) -> None:
    """Of the kubelet what it has said since the test began."""
    found = gathered(lab)
    assert logs(found, "plugins") == {
        "plugins/w.log": "plugin-1/",
        "plugins/w.journal.json": str(found["plugins/w.journal.json"]),
        "plugins/w.state.txt": "one line\nand another",
    }
    assert cast("dict[str, object]", found["plugins/w.journal.json"])["call"] == "Allocate"
    assert logs(found, "kubelets") == {"kubelets/w.log": f"w since {NOON}\n"}


def test_a_kubelet_that_cannot_be_asked_is_not(lab: Lab, access: FakeAccess) -> None:
    """It is no file that is missing: the backend has none."""
    access.can = frozenset({"run"})
    assert logs(gathered(lab), "kubelets") == {}


@pytest.mark.parametrize("facts", [{"terminating": True}, {"node": ""}])
def test_a_plugin_beside_the_one_of_a_node_has_a_file_of_its_own(
    lab: Lab, cluster: Cluster, facts: dict[str, Any]
) -> None:
    """One that ends, or has no node yet: what it said would be in the place of the other's."""
    a_plugin(cluster, "plugin-0", **facts)
    found = logs(gathered(lab), "plugins")
    assert found["plugins/w.log"] == "plugin-1/"
    assert found["plugins/plugin-0.log"] == "plugin-0/"
