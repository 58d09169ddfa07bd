"""What a test makes in the cluster, and what of it has gone when the test is over."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.cluster.connection import ApiFailed, Json
from lab.cluster.kinds import Kinds
from lab.core.errors import CleanUpFailed, UsageError
from lab.core.fleet import Fleet
from lab.harness.failure import ExpectationFailed
from lab.harness.lab import Lab
from lab.harness.workloads import pod
from tests.unit.harness.cluster import Cluster
from tests.unit.harness.kinds import KINDS

if TYPE_CHECKING:
    from lab.install.status import RunningLab

ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/reader"
PRIORITY = "/apis/scheduling.k8s.io/v1/priorityclasss/urgent-ns"


@dataclass
class Server:
    """Has objects by their paths, with their finalizers; refuses what is there already."""

    there: dict[str, list[str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    holding: list[str] = field(default_factory=list)
    shows: bool = True
    kinds: Kinds = KINDS

    @property
    def connection(self) -> "Server":
        """Answer for the connection as well."""
        return self

    def create(self, manifest: Json) -> Json:
        """Take an object, of a name that is free."""
        path = self.kinds.path_of(manifest)
        if path in self.there:
            raise ApiFailed("the API server refused", seen="already exists", status=409)
        self.there[path] = self.holding
        self.asked.append(f"create {path}")
        return manifest

    def delete(self, manifest: Json) -> None:
        """Let an object go, unless something holds it."""
        path = self.kinds.path_of(manifest)
        self.asked.append(f"delete {path}")
        if not self.there.get(path):
            self.there.pop(path, None)

    def get(self, path: str) -> Json:
        """Return an object, unless it may not be seen."""
        if not self.shows:
            raise ApiFailed("the API server refused", where=path, status=403)
        if path not in self.there:
            raise ApiFailed("there is none", where=path, status=404)
        return {"metadata": {"finalizers": self.there[path]}}


@pytest.fixture
def server() -> Server:
    """Return a server that has nothing."""
    return Server()


@pytest.fixture
def lab(cluster: Cluster, server: Server) -> Lab:
    """Return a lab of that server."""
    folder = SimpleNamespace(kubeconfig="/my lab/kubeconfig")
    running: Any = SimpleNamespace(client=server, folder=folder)
    return Lab(cast("RunningLab", running), Fleet.default(), "ns", cluster.view)


def role(**meta: str) -> Json:
    """Return a ClusterRole."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "reader", **meta},
    }


@pytest.mark.parametrize("given", [{}, {"namespace": "ns"}])
def test_an_object_is_in_the_tests_namespace(
    lab: Lab, server: Server, given: dict[str, str]
) -> None:
    """Whether it says so itself or not; it goes with the namespace."""
    manifest = pod("p")
    manifest["metadata"] |= given
    with lab.afterwards:
        assert lab.submit(manifest).namespace == "ns"
    assert server.asked == ["create /api/v1/namespaces/ns/pods/p"]


@pytest.mark.parametrize("manifest", [pod("p"), role()])
def test_another_namespace_is_refused(lab: Lab, server: Server, manifest: Json) -> None:
    """Nobody would take away what is in it, and the next test would find it."""
    elsewhere = {**manifest, "metadata": {**manifest["metadata"], "namespace": "default"}}
    for act in (lab.submit, lambda each: lab.refuses(each, because="any")):
        with pytest.raises(UsageError) as raised:
            act(elsewhere)
        assert raised.value.what == "a test works in its own namespace, and nowhere else"
        assert raised.value.seen == "metadata.namespace is 'default', and the test's is 'ns'"
        assert raised.value.remedy == "leave metadata.namespace out"
    assert server.asked == []


@pytest.mark.parametrize(
    "manifest",
    [
        None,
        [],
        {},
        "pod",
        {"apiVersion": "v1", "kind": "Pod"},
        {"apiVersion": "v1", "kind": "Pod", "metadata": None},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "p-"}},
        {"kind": "Pod", "metadata": {"name": "p"}},
        {"apiVersion": "v1", "kind": "", "metadata": {"name": "p"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ""}},
        {"apiVersion": "v1", "kind": "List", "metadata": {"name": "p"}, "items": []},
    ],
)
def test_what_is_no_object_with_a_name_is_refused(
    lab: Lab, server: Server, manifest: object
) -> None:
    """Nothing is asked of the server: the mistake is told with what was given."""
    for act in (lab.submit, lambda each: lab.refuses(each, because="any")):
        with pytest.raises(UsageError) as raised:
            act(cast("Json", manifest))
        assert raised.value.what == "this is no object that could be made"
        assert raised.value.seen == repr(manifest)
    assert server.asked == []


def test_what_has_no_namespace_has_gone_after_the_test(lab: Lab, server: Server) -> None:
    """Though it was made twice: it is the whole cluster's, and the next test would have it."""
    with lab.afterwards:
        made = lab.submit(role())
        lab.delete(made)
        assert lab.submit(role()).namespace == ""
    assert server.asked == [f"create {ROLE}", f"delete {ROLE}"] * 2
    assert server.there == {}


def test_what_should_have_been_refused_is_not_left(lab: Lab, server: Server) -> None:
    """A failure of one test is not to be that of the next."""
    with pytest.raises(ExpectationFailed, match="it was taken"), lab.afterwards:
        lab.refuses(role(), because="any")
    assert server.there == {}


def test_what_was_there_before_stays(lab: Lab, server: Server) -> None:
    """The server refuses one of that name, and it is somebody else's."""
    server.there[ROLE] = []
    with pytest.raises(ApiFailed), lab.afterwards:
        lab.submit(role())
    assert server.there == {ROLE: []}


def test_a_priority_is_the_tests_own_and_has_gone_after_it(lab: Lab, server: Server) -> None:
    """Its name cannot be that of somebody else's."""
    with lab.afterwards:
        assert lab.priority_class("urgent", 1000) == "urgent-ns"
        assert server.asked == [f"create {PRIORITY}"]
    assert server.there == {}


def test_a_priority_that_does_not_go_is_told(lab: Lab, server: Server) -> None:
    """The next test would have it."""
    server.holding = ["mine.example.com/kept"]
    with (
        pytest.raises(CleanUpFailed, match="PriorityClass urgent-ns of a test did not go"),
        lab.afterwards,
    ):
        lab.priority_class("urgent", 1000)


def test_what_the_server_does_not_show_has_not_gone(lab: Lab, server: Server) -> None:
    """Nobody knows what became of it, and that is told."""
    server.holding, server.shows = ["mine.example.com/kept"], False
    with pytest.raises(ApiFailed) as raised, lab.afterwards:
        lab.submit(role())
    assert raised.value.status == 403


def test_what_does_not_go_is_told(lab: Lab, server: Server) -> None:
    """With what holds it."""
    server.holding = ["mine.example.com/kept"]
    with pytest.raises(CleanUpFailed) as raised, lab.afterwards:
        lab.submit(role())
    assert raised.value.render() == (
        "the ClusterRole reader of a test did not go within 60 s\n"
        f"  where: {ROLE}\n"
        "  seen:  it is there still; finalizers: mine.example.com/kept\n"
        "  next:  see what holds it\n"
        "         $ kubectl --kubeconfig '/my lab/kubeconfig' get clusterrole reader -o yaml"
    )
