"""What a test lets an administrator set, and what the API server refuses by it."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.cluster.connection import ApiFailed, Json
from lab.cluster.kinds import Kinds
from lab.core.errors import TimedOut
from lab.core.fleet import Fleet
from lab.harness.failure import ExpectationFailed
from lab.harness.lab import Lab
from lab.harness.workloads import pod
from tests.unit.harness.cluster import GPU, Cluster
from tests.unit.harness.kinds import KINDS

if TYPE_CHECKING:
    from lab.install.status import RunningLab

UNEQUAL = 'Invalid value: "1": must be equal to nvidia.com/gpu limit of 2'
GREEDY = pod("greedy", limits={GPU: 9})


@dataclass
class Server:
    """Takes what is created, unless it has a reason to refuse; has counted after so many looks."""

    refusal: ApiFailed | None = None
    looks: int = 0
    made: list[Json] = field(default_factory=list)
    kinds: Kinds = KINDS

    @property
    def connection(self) -> "Server":
        """Answer for the connection as well."""
        return self

    def create(self, manifest: Json) -> Json:
        """Take an object."""
        if self.refusal:
            raise self.refusal
        self.made.append(manifest)
        return manifest

    def get(self, path: str) -> Json:
        """Return the quota, with its status if that is counted."""
        assert path == "/api/v1/namespaces/ns/resourcequotas/devices"
        self.looks -= 1
        return {"status": self.made[0]["spec"] if self.looks < 0 else {}}


@pytest.fixture
def server() -> Server:
    """Return a server that takes everything."""
    return Server()


@pytest.fixture
def lab(cluster: Cluster, server: Server) -> Lab:
    """Return a lab of that server."""
    running: Any = SimpleNamespace(client=server)
    return Lab(cast("RunningLab", running), Fleet.default(), "ns", cluster.view)


def refused(words: str, status: int = 422) -> ApiFailed:
    """Return a server's refusal."""
    return ApiFailed("the cluster's API server refused", seen=words, status=status)


def test_a_refusal_in_these_words_is_what_is_expected(lab: Lab, server: Server) -> None:
    """They are a part of what the server says."""
    server.refusal = refused(f'Pod "greedy" is invalid: {UNEQUAL}')
    lab.refuses(GREEDY, because=UNEQUAL)
    assert server.made == []


def test_other_words_are_told(lab: Lab, server: Server) -> None:
    """With what was expected."""
    server.refusal = refused("exceeded quota: devices", 403)
    with pytest.raises(ExpectationFailed) as raised:
        lab.refuses(GREEDY, because="must be an integer")
    assert raised.value.what == (
        "pod greedy: expected: the API server refuses it because 'must be an integer'"
    )
    assert raised.value.seen == "exceeded quota: devices"


def test_what_is_taken_is_told(lab: Lab, server: Server) -> None:
    """It was created in the test's namespace, with which it goes."""
    with pytest.raises(ExpectationFailed) as raised:
        lab.refuses(GREEDY, because="must be an integer")
    assert raised.value.seen == "it was taken"
    assert [each["metadata"]["namespace"] for each in server.made] == ["ns"]


def test_a_server_that_does_not_answer_refuses_nothing(lab: Lab, server: Server) -> None:
    """Nothing is known then."""
    server.refusal = refused("connection refused", 0)
    with pytest.raises(ApiFailed):
        lab.refuses(GREEDY, because="must be an integer")


def test_a_quota_is_in_force_when_it_is_counted(lab: Lab, server: Server, cluster: Cluster) -> None:
    """Until then the server would refuse whatever it is about."""
    server.looks = 3
    lab.quota("devices", {GPU: 2})
    assert server.made[0]["spec"] == {"hard": {f"requests.{GPU}": "2"}}
    assert cluster.clock.now() == pytest.approx(1.5)


def test_a_quota_that_nobody_counts_is_told(lab: Lab, server: Server) -> None:
    """It is a controller's work."""
    server.looks = 1000
    with pytest.raises(TimedOut, match=r"the quota devices was not in force within 30 s"):
        lab.quota("devices", {GPU: 2})


def test_a_priority_takes_places_unless_it_is_told_not_to(lab: Lab, server: Server) -> None:
    """In the API's words."""
    lab.priority_class("urgent", 1000)
    lab.priority_class("polite", 1000, preempts=False)
    policies = [each["preemptionPolicy"] for each in server.made]
    assert policies == ["PreemptLowerPriority", "Never"]
