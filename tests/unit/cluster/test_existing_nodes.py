"""Which nodes of a cluster a lab has, and whether an image can be streamed into them."""

import pytest

from lab.cluster.client import Client
from lab.cluster.existing.nodes import CONTROL_PLANE, are_containers, chosen_nodes
from lab.core.errors import UsageError
from lab.host.docker import Docker
from lab.host.processes import Processes
from tests.unit.stand_ins.api_server import FakeApi
from tests.unit.stand_ins.engine import FakeEngine

HEAD, WORKER = "t-lab-control-plane", "t-lab-worker"


@pytest.mark.parametrize(
    ("names", "roles", "chosen"),
    [
        pytest.param((), {HEAD}, (WORKER,), id="the workers"),
        pytest.param((), {HEAD, WORKER}, (HEAD, WORKER), id="all, where all are control planes"),
        pytest.param((WORKER, HEAD), {HEAD}, (WORKER, HEAD), id="those that are named"),
        pytest.param((WORKER, WORKER), {HEAD}, (WORKER,), id="once"),
    ],
)
def test_nodes_are_chosen(
    client: Client, api: FakeApi, names: tuple[str, ...], roles: set[str], chosen: tuple[str, ...]
) -> None:
    """By name; without any, those that are no control planes."""
    for each in roles:
        api.nodes[each]["metadata"]["labels"][CONTROL_PLANE] = ""
    assert chosen_nodes(client.nodes(), names) == chosen


def test_a_node_that_is_not_there_is_refused(client: Client) -> None:
    """All such names at once."""
    with pytest.raises(UsageError, match="the cluster has no node a, b") as raised:
        chosen_nodes(client.nodes(), ("a", WORKER, "b"))
    assert raised.value.seen == f"nodes that it has: {HEAD}, {WORKER}"


@pytest.mark.parametrize(
    ("provider", "there"),
    [
        pytest.param(f"kind://docker/t-lab/{WORKER}", True, id="a container here"),
        pytest.param(f"kind://docker/other/{WORKER}", False, id="of a like cluster elsewhere"),
        pytest.param(f"kind://podman/t-lab/{WORKER}", False, id="of another engine"),
        pytest.param("aws:///i-1", False, id="a machine"),
        pytest.param(None, False, id="it does not say"),
    ],
)
def test_nodes_of_kind_are_known_by_what_they_say_and_the_engine_has(
    client: Client, api: FakeApi, engine: FakeEngine, provider: str | None, *, there: bool
) -> None:
    """Both have to agree: a node of that name may be a container on another machine."""
    engine.set(containers=engine.nodes())
    if provider:
        api.nodes[WORKER]["spec"]["providerID"] = provider
    assert are_containers(client, (WORKER,), Docker(Processes())) == there


@pytest.mark.parametrize("engine_says", ["", "Cannot connect to the Docker daemon"])
def test_without_a_container_nothing_can_be_streamed(
    client: Client, api: FakeApi, engine: FakeEngine, engine_says: str
) -> None:
    """The engine has none, or there is no engine: no error, the image is pulled then."""
    engine.set(away=engine_says)
    api.nodes[WORKER]["spec"]["providerID"] = f"kind://docker/t-lab/{WORKER}"
    assert not are_containers(client, (WORKER,), Docker(Processes()))
