"""What `status`, `logs`, `down` and `up` print, and with which code they end."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fake_plugin.faults.fault import Fail, Fault
from lab.cli.main import run
from lab.core.fleet import Fleet, Pool, dump_fleet
from lab.core.fleet.model import NodeFault
from lab.install import up as up_module
from tests.unit.stand_ins.api_server import GPU, FakeApi, node, pod
from tests.unit.stand_ins.engine import FakeEngine

if TYPE_CHECKING:
    from lab.install.order import Order

READY = """\
lab t-lab: ready (kind, Kubernetes v1.36.3)
NODE                 STATUS POOL    RESOURCE                CAPACITY ALLOCATABLE REQUESTED
t-lab-control-plane  Ready  -       -                              -           -         -
t-lab-worker         Ready  chapter fake.example.com/device        2           2         0
"""
NOT_READY = """\
error: the lab 't-lab' is not ready
  next:  see what is broken on purpose, and what the plugins and the machine say
         $ gpulab inject list --name t-lab
         $ gpulab logs --name t-lab
         $ gpulab doctor
"""

Output = pytest.CaptureFixture[str]


def squeezed(text: str) -> list[list[str]]:
    """Return the words of each line: the spaces between columns are the table's own."""
    return [line.split() for line in text.splitlines()]


@pytest.mark.usefixtures("lab")
def test_status_is_a_table(capsys: Output) -> None:
    """Nothing but the result is on stdout, and nothing on stderr."""
    assert run(["status", "--name", "t-lab"]) == 0
    shown = capsys.readouterr()
    assert squeezed(shown.out) == squeezed(READY)
    assert shown.err == ""


def test_status_of_a_lab_that_is_not_ready_is_code_1(lab: FakeApi, capsys: Output) -> None:
    """The table comes all the same, and what to do next."""
    lab.add(node("t-lab-worker", devices=1, ready=False))
    assert run(["status", "--name", "t-lab"]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("lab t-lab: not ready (kind, Kubernetes v1.36.3)\n")
    assert "NotReady" in shown.out
    assert shown.err == NOT_READY


@pytest.mark.parametrize(("devices", "code"), [(2, 0), (1, 1)])
def test_status_for_tools_is_json_whatever_it_says(
    lab: FakeApi, capsys: Output, devices: int, code: int
) -> None:
    """A tool reads stdout and the code, which agree."""
    lab.add(node("t-lab-worker", devices=devices))
    assert run(["status", "--name", "t-lab", "--output", "json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["ready"] == (code == 0)
    assert list(found) == [
        "name",
        "backend",
        "kubernetes",
        "kubeconfig",
        "ready",
        "nodes",
        "plugins",
    ]


def test_long_names_are_not_cut(
    lab: FakeApi, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are there to be pasted, also from a narrow terminal or a pipe."""
    monkeypatch.setenv("COLUMNS", "40")
    worker = node("t-lab-worker", devices=2)
    worker["status"]["capacity"]["a-rather-long-name.example.com/accelerator-of-some-kind"] = "1"
    lab.add(worker)
    run(["status", "--name", "t-lab"])
    assert "a-rather-long-name.example.com/accelerator-of-some-kind" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["status", "logs"])
@pytest.mark.usefixtures("state")
def test_lab_that_is_not_there_is_code_3(capsys: Output, command: str) -> None:
    """With the command that makes it."""
    assert run([command, "--name", "t-none"]) == 3
    said = capsys.readouterr().err
    assert said.startswith("error: there is no lab 't-none'\n")
    assert said.endswith("         $ gpulab up --name t-none\n")


def test_damaged_record_is_told(lab: FakeApi, state: Path, capsys: Output) -> None:
    """A file that a full disk has cut off is no traceback."""
    (state / "t-lab" / "lab.json").write_text("")
    assert run(["status", "--name", "t-lab"]) == 1
    assert capsys.readouterr().err.startswith("error: the lab's own record cannot be read\n")
    assert lab.requests == []


def test_logs_are_those_of_all_plugins(lab: FakeApi, capsys: Output) -> None:
    """Whose they are is said beside them, on stderr: what is on stdout stays JSON."""
    lab.pods = [pod("plugin-1", "t-lab-worker"), pod("plugin-2", "t-lab-worker2")]
    lab.logs = {"plugin-1": '{"n": 1}\n', "plugin-2": '{"n": 2}\n'}
    assert run(["logs", "--name", "t-lab"]) == 0
    assert capsys.readouterr() == (
        '{"n": 1}\n{"n": 2}\n',
        "==> t-lab-worker: pod plugin-1 <==\n==> t-lab-worker2: pod plugin-2 <==\n",
    )


def test_logs_of_one_node(lab: FakeApi, capsys: Output) -> None:
    """Only its last lines, where they are asked for."""
    lab.pods = [pod("plugin-1", "t-lab-worker"), pod("plugin-2", "t-lab-worker2")]
    lab.logs = {"plugin-1": '{"n": 1}\n', "plugin-2": '{"n": 2}\n'}
    assert run(["logs", "t-lab-worker2", "--name", "t-lab", "--tail", "7"]) == 0
    assert capsys.readouterr().out == '{"n": 2}\n'
    assert lab.requests[-1].query == {"tailLines": "7"}


def test_logs_of_a_node_without_a_plugin_is_code_2(lab: FakeApi, capsys: Output) -> None:
    """Those that have one are named."""
    lab.pods = [pod("plugin-1", "t-lab-worker")]
    assert run(["logs", "t-lab-control-plane", "--name", "t-lab"]) == 2
    assert capsys.readouterr().err == (
        "error: no device plugin runs on 't-lab-control-plane'\n"
        "  seen:  nodes with one: t-lab-worker\n"
        "  next:  name one of these, or none for all\n"
    )


@pytest.mark.usefixtures("lab")
def test_logs_without_any_plugin_is_code_1(capsys: Output) -> None:
    """The lab is not as it should be."""
    assert run(["logs", "--name", "t-lab"]) == 1
    assert capsys.readouterr().err == (
        "error: no device plugin runs\n"
        "  next:  bring the lab up to date\n"
        "         $ gpulab up --name t-lab\n"
    )


@pytest.mark.usefixtures("engine", "state")
def test_down_without_a_lab_says_so_and_is_done(capsys: Output) -> None:
    """Scripts may call it as often as they like."""
    assert run(["down", "--name", "t-none"]) == 0
    assert capsys.readouterr() == ("", "there is no lab 't-none': nothing to remove\n")


def test_down_that_leaves_something_is_code_1(
    engine: FakeEngine, lab: FakeApi, capsys: Output
) -> None:
    """What is left, in the engine's words, and the command to paste."""
    engine.set(containers=engine.nodes(), stubborn="Error: device is busy")
    assert run(["down", "--name", "t-lab"]) == 1
    assert capsys.readouterr().err.endswith(
        "error: containers of the lab could not be removed\n"
        "  where: t-lab-control-plane, t-lab-worker\n"
        "  seen:  Error: device is busy\n"
        "         $ docker rm -f -v t-lab-control-plane t-lab-worker\n"
    )
    assert lab.requests == []


@pytest.mark.usefixtures("engine", "lab")
def test_up_prints_the_table_and_what_to_paste_next(
    capsys: Output, monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    """The node is the fleet's own, the kubeconfig the lab's."""
    monkeypatch.setattr(up_module, "bring_up", lambda *_: None)
    assert run(["up", "--name", "t-lab"]) == 0
    out = capsys.readouterr().out
    assert squeezed(out)[:4] == squeezed(READY)
    assert out.split("Next:\n")[1].splitlines() == [
        f"  export KUBECONFIG={state}/t-lab/kubeconfig",
        "  kubectl get node t-lab-worker -o jsonpath='{.status.allocatable}{\"\\n\"}'",
        "  kubectl apply -f examples/gpu-test-pod.yaml",
        "  kubectl wait pod/gpu-test-pod --for=condition=Ready --timeout=60s",
        "  kubectl logs gpu-test-pod",
        "  gpulab logs t-lab-worker --name t-lab",
        "  gpulab down --name t-lab",
    ]


@pytest.mark.usefixtures("engine", "lab")
def test_up_ends_with_what_the_fleet_holds_back(
    capsys: Output, monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    """It is not there, and the lab is ready all the same: as the fleet has it."""
    pools = [Pool(name[0], 1, name, 2, node_names=("t-lab-worker",)) for name in (GPU, "n.io/n")]
    refused = NodeFault(None, Fault("fleet-1", "Register", Fail("no"), "n.io/n"))
    (state / "t-lab" / "fleet.yaml").write_text(dump_fleet(Fleet((*pools,), faults=(refused,))))
    monkeypatch.setattr(up_module, "bring_up", lambda *_: None)
    assert run(["up", "--name", "t-lab"]) == 0
    assert capsys.readouterr().out.endswith(
        "\n\nheld back: n.io/n on t-lab-worker (Register fails); "
        "to let it come: gpulab inject clear fleet-1 --name t-lab\n"
    )


@pytest.mark.usefixtures("engine", "lab")
def test_up_for_tools_prints_json_alone(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as `status` prints."""
    monkeypatch.setattr(up_module, "bring_up", lambda *_: None)
    run(["up", "--name", "t-lab", "--output", "json"])
    up = capsys.readouterr().out
    run(["status", "--name", "t-lab", "--output", "json"])
    assert up == capsys.readouterr().out


@pytest.mark.parametrize("there", [False, True])
def test_kind_config_of_the_folder_is_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, there: bool
) -> None:
    """In a checkout `up` says the same as its kind-config.yaml."""
    orders: list[Order] = []
    monkeypatch.setattr(up_module, "bring_up", lambda order, _: orders.append(order))
    monkeypatch.chdir(tmp_path)
    if there:
        Path("kind-config.yaml").touch()
    run(["up", "--name", "t-none"])
    assert orders[0].found_config == (Path("kind-config.yaml") if there else None)


def test_what_is_asked_of_a_cluster_that_is_there_is_ordered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Names of nodes have commas in between; what is not asked for is left open."""
    orders: list[Order] = []
    monkeypatch.setattr(up_module, "bring_up", lambda order, _: orders.append(order))
    run(["up", "--name", "t-none", "--kubeconfig", "c", "--nodes", "b, a,", "--context", "x"])
    order = orders[0]
    assert (order.backend, order.kubeconfig, order.context) == ("auto", Path("c"), "x")
    assert (order.nodes, order.plugin_image) == (("b", "a"), None)


@pytest.mark.usefixtures("state")
def test_wrong_fleet_file_is_code_2_before_anything_begins(capsys: Output, tmp_path: Path) -> None:
    """The file and the line are in the error."""
    file = tmp_path / "fleet.yaml"
    file.write_text("apiVersion: gpu-lab/v1\nkind: Fleet\npools: 7\n")
    assert run(["up", "--fleet", str(file)]) == 2
    assert f"{file}:3" in capsys.readouterr().err


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize("command", ["up", "down", "status", "logs"])
def test_what_stands_in_the_labs_place_is_named(
    state: Path, capsys: Output, command: str, *, link: bool
) -> None:
    """One text in every command, and nothing is removed."""
    state.mkdir()
    place = state / "t-lab"
    if link:
        place.symlink_to("gone")
    else:
        place.touch()
    assert run([command, "--name", "t-lab"]) == 3
    assert capsys.readouterr().err.startswith(
        f"error: the folder of the lab 't-lab' cannot be there: something else is\n"
        f"  where: {place}\n"
    )
    assert place.is_symlink() or place.is_file()
