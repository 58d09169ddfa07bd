"""What a container has printed, and what the API server says where there is no log."""

import pytest

from lab.cluster.connection import ApiFailed
from lab.harness.failure import ExpectationFailed
from tests.unit.harness.cluster import Cluster
from tests.unit.harness.conftest import ExpectPod, Inside

WAITS = 'container "main" in pod "p" is waiting to start: ContainerCreating'


def test_the_servers_words_are_not_the_containers(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """A container that has not started has printed nothing, whatever is said of it."""
    cluster.pod()
    inside.refuse("p", 400, WAITS)
    assert expect_pod().log() == ""
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().logs("waiting to start", within=1)
    assert raised.value.seen == "it has printed: nothing"


@pytest.mark.parametrize(("status", "words"), [(400, WAITS), (404, 'pods "p" not found')])
def test_a_log_that_is_not_there_yet_is_waited_for(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside, status: int, words: str
) -> None:
    """The container starts, or a pod of that name is made again."""
    cluster.pod()
    inside.refuse("p", status, words)
    inside.printed["p"] = "ready\n"
    cluster.clock.at(2, inside.refusals.clear)
    expect_pod().logs("ready")
    assert cluster.clock.now() == pytest.approx(2)


@pytest.mark.parametrize("status", [0, 401, 403, 500, 503])
def test_a_log_that_the_server_does_not_give_out_is_no_empty_one(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside, status: int
) -> None:
    """Its words are the report, and nobody waits for a deadline."""
    cluster.pod()
    inside.refuse("p", status, 'User "jane" cannot get resource "pods/log"')
    with pytest.raises(ApiFailed, match="pods/log"):
        expect_pod().logs("ready")
    assert cluster.clock.now() == 0


def test_no_pod_has_printed_nothing(expect_pod: ExpectPod) -> None:
    """Nobody is asked."""
    assert expect_pod().log() == ""
