"""The way to a node, and what is said where a backend has none."""

from datetime import UTC, datetime

import pytest

from lab.cluster.access import (
    ABILITIES,
    CHECKPOINT,
    Ability,
    NodeAccess,
    NotOffered,
    journal_command,
)
from lab.cluster.kind.access import KindAccess
from lab.core.errors import NotReady
from lab.host.docker import Docker
from lab.host.processes import Processes, ProcessFailed
from tests.unit.stand_ins.engine import FakeEngine

MOMENT = datetime(2026, 12, 2, 9, 30, 0, 250_000, UTC)
WORKER = "t-lab-worker"


@pytest.fixture
def access(engine: FakeEngine) -> NodeAccess:
    """Return the way to the nodes of a kind cluster."""
    engine.set(containers=engine.nodes())
    return KindAccess(Docker(Processes()))


def test_every_ability_is_a_method(access: NodeAccess) -> None:
    """And kind has them all."""
    assert access.can == set(ABILITIES)
    assert all(callable(getattr(access, each)) for each in ABILITIES)


@pytest.mark.parametrize(
    ("ability", "called"),
    [
        ("restart_kubelet", f"exec {WORKER} systemctl restart kubelet"),
        ("stop_kubelet", f"exec {WORKER} systemctl stop kubelet"),
        ("lose_checkpoint", f"exec {WORKER} rm {CHECKPOINT}"),
        ("restart", f"restart {WORKER}"),
    ],
)
def test_a_node_of_kind_is_a_container(
    access: NodeAccess, engine: FakeEngine, ability: Ability, called: str
) -> None:
    """Its systemd has the kubelet, and its restart is a reboot."""
    getattr(access, ability)(WORKER)
    assert engine.state()["calls"][-1] == called


@pytest.mark.parametrize("stopped", [False, True])
def test_a_kubelet_is_started_where_it_was_stopped(
    access: NodeAccess, engine: FakeEngine, *, stopped: bool
) -> None:
    """And whoever asks is told whether it was: else there is nothing to wait for."""
    if stopped:
        access.stop_kubelet(WORKER)
    assert access.start_kubelet(WORKER) == stopped
    assert len(engine.calls(f"exec {WORKER} systemctl start kubelet")) == stopped
    assert engine.state()["without_kubelet"] == []


def test_a_command_runs_in_the_node(access: NodeAccess, engine: FakeEngine) -> None:
    """As an argument list: no shell reads it."""
    assert access.run(WORKER, ("echo", "a b;c")).ok
    assert engine.state()["calls"][-1] == f"exec {WORKER} echo a b;c"


def test_a_node_that_is_not_there_is_an_error(access: NodeAccess) -> None:
    """In the engine's words; or, without `check`, an exit code."""
    with pytest.raises(ProcessFailed) as raised:
        access.restart_kubelet("t-lab-worker7")
    assert raised.value.seen == "Error: No such container: t-lab-worker7"
    assert not access.run("t-lab-worker7", ("true",), check=False).ok


@pytest.mark.parametrize(
    ("since", "last"),
    [(None, "--output=short-iso-precise"), (MOMENT, "--since=@1796203800.250000")],
)
def test_a_journal_is_read_from_a_moment_on(since: datetime | None, last: str) -> None:
    """In seconds since 1970, which no time zone changes."""
    assert journal_command(since)[-1] == last


def test_what_a_backend_cannot_do_is_refused_with_the_reason() -> None:
    """What, why, and what to do instead; the machine is not ready for it."""
    error = NotOffered("existing", "restart", why="no pod survives that", instead="use kind")
    assert isinstance(error, NotReady)
    assert error.render() == (
        "the backend 'existing' cannot restart a node\n"
        "  seen:  no pod survives that\n"
        "  next:  use kind"
    )
