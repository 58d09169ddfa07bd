"""The way to a node by a privileged pod on it."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from lab.cluster.access import ABILITIES, NotOffered
from lab.cluster.client import Client
from lab.cluster.existing.access import ExistingAccess
from lab.cluster.existing.pod import ACT, KEEPER, Secret
from lab.core.errors import CheckFailed, TimedOut
from lab.host.processes import ProcessFailed
from tests.unit.stand_ins.api_server import FakeApi

WORKER = "t-lab-worker"
DAEMON_SET = "/apis/apps/v1/namespaces/kube-system/daemonsets/plugin"
TOKEN = "0123456789abcdef"  # noqa: S105 - of a lab that is none
Json = dict[str, Any]


@pytest.fixture
def access(client: Client, api: FakeApi) -> ExistingAccess:
    """Return the way to the nodes of a cluster that has the plugin."""
    container = {"image": "plugin:1", "imagePullPolicy": "Never"}
    api.objects[DAEMON_SET] = {"spec": {"template": {"spec": {"containers": [container]}}}}
    return ExistingAccess(client, DAEMON_SET, Secret("control", "token"), TOKEN)


def in_state(phase: str, *, ready: bool = False, **state: Json) -> Callable[[Json], Json]:
    """Return what makes of a pod one whose container is in this state."""
    container = {"name": "node", "image": "", "ready": ready, "restartCount": 0, "state": state}
    return lambda _: {"status": {"phase": phase, "containerStatuses": [container]}}


def ended(api: FakeApi, code: int, *, log: str = "", message: str = "") -> None:
    """Let pods end with this code, this log, and this on stderr."""
    terminated = {"exitCode": code, "message": message}

    def end(pod: Json) -> Json:
        api.logs[pod["metadata"]["name"]] = log
        return in_state("Failed" if code else "Succeeded", terminated=terminated)(pod)

    api.runs = end


def made(api: FakeApi) -> list[Json]:
    """Return the pods that were created, as they were sent."""
    return [
        each.body
        for each in api.requests
        if each.method == "POST" and each.path.endswith("/pods") and "dryRun" not in each.query
    ]


def test_a_command_is_a_pod_in_the_nodes_own_namespaces(
    access: ExistingAccess, api: FakeApi
) -> None:
    """On that node whatever its taints, from the image that is there, and gone afterwards."""
    ended(api, 0, log="out\n", message="err")
    finished = access.run(WORKER, ("echo", "a b;c"))
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "out\n", "err")
    (pod,) = made(api)
    spec, (container,) = pod["spec"], pod["spec"]["containers"]
    assert (spec["nodeName"], spec["hostPID"]) == (WORKER, True)
    assert spec["tolerations"] == [{"operator": "Exists"}]
    assert (container["image"], container["imagePullPolicy"]) == ("plugin:1", "Never")
    assert container["securityContext"]["privileged"]
    assert container["command"][-2:] == ["echo", "a b;c"]
    assert "nsenter" in container["command"][2]
    assert api.pods == []


def test_a_command_that_fails_is_an_error(access: ExistingAccess, api: FakeApi) -> None:
    """With the node, the command and what it said; without `check` it is an exit code."""
    ended(api, 3, message="no such unit")
    with pytest.raises(ProcessFailed) as raised:
        access.run(WORKER, ("systemctl", "frob"))
    assert raised.value.what == f"a command on the node {WORKER} exited with 3"
    assert (raised.value.where, raised.value.seen) == ("systemctl frob", "no such unit")
    assert access.run(WORKER, ("false",), check=False).returncode == 3


def test_a_kubelets_journal_is_a_commands_output(access: ExistingAccess, api: FakeApi) -> None:
    """From a moment on."""
    ended(api, 0, log="a line\n")
    since = datetime(2026, 12, 2, 9, 30, tzinfo=UTC)
    assert access.kubelet_journal(WORKER, since) == "a line\n"
    assert made(api)[0]["spec"]["containers"][0]["command"][-1] == "--since=@1796203800.000000"


@pytest.mark.parametrize(
    ("becomes", "seen"),
    [
        (
            in_state("Pending", waiting={"reason": "ErrImageNeverPull", "message": "no plugin:1"}),
            "Pending ErrImageNeverPull: no plugin:1",
        ),
        (lambda _: {"status": {"phase": "Failed", "reason": "NodeShutdown"}}, "NodeShutdown"),
    ],
)
def test_a_pod_that_cannot_run_is_not_waited_for(
    access: ExistingAccess, api: FakeApi, becomes: Callable[[Json], Json], seen: str
) -> None:
    """In the kubelet's words; and it does not stay."""
    api.runs = becomes
    with pytest.raises(CheckFailed) as raised:
        access.run(WORKER, ("true",))
    assert (raised.value.where, raised.value.seen) == (WORKER, seen)
    assert api.pods == []


def test_a_node_that_takes_no_pod_is_told(access: ExistingAccess, api: FakeApi) -> None:
    """Its kubelet may be stopped."""
    with pytest.raises(TimedOut, match=r"did not do so within 0\.2 s") as raised:
        access.run(WORKER, ("true",), timeout=0.2)
    assert raised.value.commands == (f"gpulab node start-kubelet {WORKER}",)
    assert api.pods == []


def test_it_can_do_all_but_restart_a_node(access: ExistingAccess) -> None:
    """And says what to use instead."""
    assert access.can == set(ABILITIES) - {"restart"}
    with pytest.raises(NotOffered, match="the backend 'existing' cannot restart a node") as raised:
        access.restart(WORKER)
    assert "gpulab node restart-kubelet" in raised.value.remedy


@pytest.mark.parametrize("ability", sorted(set(ABILITIES) - {"run", "restart"}))
def test_where_no_privileged_pod_is_allowed_nothing_is_offered(
    access: ExistingAccess, api: FakeApi, ability: str
) -> None:
    """With the server's reason, which a dry run is told; no pod was made."""
    api.no_pods = 'violates PodSecurity "restricted"'
    assert access.can == frozenset()
    with pytest.raises(NotOffered) as raised:
        getattr(access, ability)(WORKER)
    assert raised.value.seen == api.no_pods
    assert made(api) == []


@pytest.fixture
def told(api: FakeApi) -> list[tuple[str, str]]:
    """Let keepers run, and return what they were told, with which token."""
    calls: list[tuple[str, str]] = []

    def run(pod: Json) -> Json:
        def answer(_: str, path: str, headers: Any, __: bytes) -> tuple[int, bytes]:  # noqa: ANN401 - http.server's
            calls.append((path, headers["X-Gpulab-Token"]))
            return 200, b""

        api.listening[f"{pod['metadata']['name']}:9443"] = answer
        return in_state("Running", ready=True, running={})(pod)

    api.runs = run
    return calls


def test_a_kubelet_is_stopped_by_a_pod_that_can_start_it(
    access: ExistingAccess, api: FakeApi, told: list[tuple[str, str]]
) -> None:
    """The pod knows the token from the lab's Secret, and goes with the start."""
    access.stop_kubelet(WORKER)
    (pod,) = made(api)
    (container,) = pod["spec"]["containers"]
    assert container["env"][0]["valueFrom"] == {"secretKeyRef": {"name": "control", "key": "token"}}
    assert [each.node for each in access.keepers()] == [WORKER]
    assert access.start_kubelet(WORKER)
    assert told == [("/stop", TOKEN), ("/start", TOKEN)]
    assert api.pods == []


def test_a_stopped_kubelet_loses_its_checkpoint_by_the_pod_that_keeps_it(
    access: ExistingAccess, told: list[tuple[str, str]]
) -> None:
    """The node would start no other pod."""
    access.stop_kubelet(WORKER)
    access.lose_checkpoint(WORKER)
    assert told == [("/stop", TOKEN), ("/forget", TOKEN)]


def test_a_kubelet_that_is_stopped_is_not_stopped_again(
    access: ExistingAccess, told: list[tuple[str, str]]
) -> None:
    """No second pod would start there."""
    access.stop_kubelet(WORKER)
    access.stop_kubelet(WORKER)
    assert len(told) == 1


def test_a_kubelet_that_runs_is_not_started(access: ExistingAccess, api: FakeApi) -> None:
    """Nobody has stopped it."""
    assert not access.start_kubelet(WORKER)
    assert made(api) == []


def test_a_node_that_the_server_does_not_reach_keeps_its_kubelet(
    access: ExistingAccess, api: FakeApi, told: list[tuple[str, str]]
) -> None:
    """Whoever cannot be told to stop could not be told to start either."""
    runs = api.runs

    def deaf(pod: Json) -> Json:
        found = runs(pod)
        api.listening.clear()
        return found

    api.runs = deaf
    with pytest.raises(CheckFailed, match="the kubelet could not be told to stop"):
        access.stop_kubelet(WORKER)
    assert (told, api.pods) == ([], [])


def test_pods_that_act_are_told_from_the_plugins(access: ExistingAccess, api: FakeApi) -> None:
    """Each has a label of its own, and none is counted as a plugin."""
    ended(api, 0)
    for _ in range(2):
        access.run(WORKER, ("true",))
    labels = [pod["metadata"]["labels"] for pod in made(api)]
    assert len({each[ACT] for each in labels}) == 2
    assert not any("app" in each or KEEPER in each for each in labels)
