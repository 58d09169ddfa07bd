"""What `gpulab timeline` tells of a lab's pods, and of a cluster of which parts are broken."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    AllocateResponse,
    ContainerAllocateRequest,
    ContainerAllocateResponse,
    ListAndWatchResponse,
    RegisterRequest,
)
from fake_plugin.api.deviceplugin_pb2 import Device as ListedDevice
from fake_plugin.serving.journal import Journal, Record
from lab.cli.main import run
from tests.unit.cli.two_nodes import NPU, Output
from tests.unit.stand_ins.api_server import FakeApi
from tests.unit.stand_ins.plugin import Plugin

WORKER: Final = "t-lab-worker2"
POD: Final = "/api/v1/namespaces/default/pods/p"
EVENTS: Final = "/api/v1/namespaces/default/events"
NODE: Final = f"/api/v1/nodes/{WORKER}"
#: After all that the plugin has written down at the start of a test.
_BOUND: Final = timedelta(seconds=2)


def command(*arguments: str) -> int:
    """Run the command on the lab; return its exit code."""
    return run(["timeline", *arguments, "--name", "t-lab"])


def told(capsys: Output, pod: str = "p") -> Mapping[str, Any]:
    """Return what the command tells to tools."""
    assert command(pod, "--output", "json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def outcomes(found: Mapping[str, Any]) -> list[str]:
    """Return how the nine steps ended."""
    return [each["outcome"] for each in found["steps"]]


@pytest.fixture
def now() -> datetime:
    """Return the second of the pod's creation."""
    return datetime.now(UTC).replace(microsecond=0)


@pytest.fixture
def device(lab: FakeApi, plugins: tuple[Plugin, Plugin], now: datetime) -> str:
    """Let a pod `p` run with the first chip of the second node, whose ID is returned."""
    ids = [each.id for each in plugins[1].node.inventory.resources[0].devices]
    lab.pods.append(pod_with_a_chip(now))
    lab.objects[POD] = lab.pods[-1]
    lab.objects[EVENTS] = {"items": [event("Scheduled", now + _BOUND)]}
    lab.objects[NODE] = {**lab.nodes[WORKER], "status": {"allocatable": {NPU: "2"}}}
    lab.objects[NODE]["status"]["capacity"] = {NPU: "2"}
    write_calls(plugins[1].node.switchboard.journal, ids, now)
    scan = {"time": now.isoformat(), "event": "scanned", "cards": 2, "resources": [NPU]}
    lab.logs = {"plugin-2": f"no JSON\n{json.dumps(scan)}\n", "p": f"I see {ids[0]}\n"}
    return ids[0]


def pod_with_a_chip(now: datetime) -> dict[str, Any]:
    """Return a pod that runs with one device."""
    started = stamp(now + _BOUND + timedelta(seconds=2))
    status = {"name": "c", "ready": True, "restartCount": 0, "containerID": "containerd://1"}
    asked = {"limits": {NPU: "1"}, "requests": {NPU: "1"}}
    meta = {"namespace": "default", "name": "p", "uid": "u", "creationTimestamp": stamp(now)}
    return {
        "metadata": {**meta, "labels": {}},
        "spec": {
            "nodeName": WORKER,
            "containers": [{"name": "c", "image": "i", "resources": asked}],
        },
        "status": {
            "phase": "Running",
            "containerStatuses": [{**status, "state": {"running": {"startedAt": started}}}],
        },
    }


def write_calls(journal: Journal, ids: list[str], now: datetime) -> None:
    """Write down a registration, a list of devices, and a call for the first of them."""
    with journal.recording(Record("Register", NPU, RegisterRequest(resource_name=NPU))):
        pass
    devices = [ListedDevice(ID=each, health="Healthy") for each in ids]
    listed = ListAndWatchResponse(devices=devices)
    journal.sent(Record("ListAndWatch", NPU, RegisterRequest()), listed)
    asked = ContainerAllocateRequest(devices_ids=ids[:1])
    given = ContainerAllocateResponse(envs={"VISIBLE": ids[0]})
    call = Record("Allocate", NPU, AllocateRequest(container_requests=[asked]))
    call.answer = AllocateResponse(container_responses=[given])
    call.at = now + _BOUND + timedelta(milliseconds=100)
    with journal.recording(call):
        pass


def event(reason: str, at: datetime, uid: str = "u") -> dict[str, Any]:
    """Return an event of the pod."""
    about = {"kind": "Pod", "name": "p", "uid": uid}
    return {"involvedObject": about, "reason": reason, "message": "", "firstTimestamp": stamp(at)}


def stamp(at: datetime) -> str:
    """Return a time as the API server writes it."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_every_source_is_asked(device: str, capsys: Output) -> None:
    """What each of them tells is in the step that only it can tell of."""
    found = told(capsys)
    steps = found["steps"]
    assert (found["pod"], found["node"], found["asks"]) == ("p", WORKER, {NPU: 1})
    assert outcomes(found) == ["done"] * 9
    sources = ["plugin log", "journal", "journal", "node status", "event", "journal", "journal"]
    assert [each["source"] for each in steps] == [*sources, "pod status", "pod log"]
    assert steps[0]["detail"]["en"] == f"2 cards, offered as {NPU}"
    assert steps[8]["detail"]["en"] == f"c: 1 of 2 devices: VISIBLE={device}"


def test_text_is_in_the_language_that_is_asked_for(device: str, capsys: Output) -> None:
    """English by default."""
    assert command("p") == 0
    assert f"c: {device} [plugin's journal]" in capsys.readouterr().out
    assert command("p", "--language", "zh") == 0
    assert f"c: {device} [plugin 调用记录]" in capsys.readouterr().out


@pytest.mark.usefixtures("device")
def test_picture_is_written_beside_the_text(tmp_path: Path, capsys: Output) -> None:
    """Into the file that is named; what was there is replaced."""
    file = tmp_path / "p.svg"
    file.write_text("old")
    assert command("p", "--svg", str(file), "--language", "zh") == 0
    assert capsys.readouterr().out.startswith("Pod default/p")
    assert file.read_text().startswith('<svg xmlns="http://www.w3.org/2000/svg"')


@pytest.mark.usefixtures("device")
def test_picture_that_cannot_be_written_is_code_2(tmp_path: Path, capsys: Output) -> None:
    """With the system's reason."""
    file = tmp_path / "none" / "p.svg"
    assert command("p", "--svg", str(file)) == 2
    assert capsys.readouterr().err == (
        "error: the picture cannot be written\n"
        f"  where: {file}\n"
        "  seen:  No such file or directory\n"
        "  next:  name a file in a folder that is there and may be written to\n"
    )


@pytest.mark.usefixtures("device")
def test_pod_that_is_not_there_is_code_2(capsys: Output) -> None:
    """Those that have devices are named."""
    assert command("q", "--namespace", "ml") == 2
    assert capsys.readouterr().err == (
        "error: there is no pod ml/q\n"
        "  seen:  pods that ask for devices: default/p\n"
        "  next:  name one of these, with its namespace\n"
    )


@pytest.mark.usefixtures("plugins")
def test_pod_without_devices_is_code_2(capsys: Output) -> None:
    """There is nothing to tell of it."""
    assert command("plugin-1", "--namespace", "kube-system") == 2
    assert capsys.readouterr().err == (
        "error: the pod kube-system/plugin-1 asks for no device of the lab\n"
        "  seen:  pods that ask for devices: none\n"
        "  next:  create one that asks for devices\n"
    )


def test_many_pods_are_not_all_named(lab: FakeApi, device: str, capsys: Output) -> None:
    """A dozen is enough to recognise a name."""
    del device
    (pod,) = lab.pods[-1:]
    lab.pods += [{**pod, "metadata": {**pod["metadata"], "name": f"p{n}"}} for n in range(13)]
    assert command("q") == 2
    assert capsys.readouterr().err.splitlines()[1].endswith("default/p10, and 2 more")


def test_events_of_an_earlier_pod_of_that_name_are_not_its_own(
    lab: FakeApi, device: str, now: datetime, capsys: Output
) -> None:
    """The name is the same, the pod is another."""
    del device
    earlier = event("Scheduled", now - timedelta(hours=1), uid="earlier")
    lab.objects[EVENTS]["items"].insert(0, earlier)
    assert told(capsys)["steps"][4]["time"] == (now + _BOUND).isoformat()


@pytest.mark.parametrize("runs", [True, False])
def test_what_a_plugin_cannot_tell_is_unknown(
    lab: FakeApi, device: str, capsys: Output, *, runs: bool
) -> None:
    """The command works on a cluster that is half broken, and says why it knows no more."""
    del device, lab.listening["plugin-2:9441"]
    why = "the plugin does not answer: error trying to reach service"
    if not runs:
        lab.pods = [each for each in lab.pods if each["metadata"]["name"] != "plugin-2"]
        why = "no device plugin runs on the node"
    found = told(capsys)
    # It was asked, and what for is not known.
    assert outcomes(found) == ["done"] * 5 + ["unknown"] * 2 + ["done"] * 2
    told_why = [each["detail"]["en"].startswith(why) for each in found["steps"]]
    assert told_why == [not runs, True, True, False, False, True, True, False, False]


@pytest.mark.parametrize(
    ("path", "number", "outcome", "source"),
    [(NODE, 4, "unknown", ""), (EVENTS, 5, "done", "pod status"), (POD, 5, "unknown", "")],
)
def test_what_the_server_does_not_give_is_told_by_others_or_unknown(  # noqa: PLR0913, PLR0917 - fixtures
    lab: FakeApi, device: str, capsys: Output, path: str, number: int, outcome: str, source: str
) -> None:
    """The pod's own status knows its node, though not so well as an event."""
    del device, lab.objects[path]
    step = told(capsys)["steps"][number - 1]
    assert (step["outcome"], step["source"]) == (outcome, source)
    assert step["detail"]["en"].endswith(f"nothing at {path}") == (outcome == "unknown")


def test_lab_that_is_not_there_is_code_3(state: Path, capsys: Output) -> None:
    """As for every other command."""
    del state
    assert command("p", "--namespace", "prod") == 3
    shown = capsys.readouterr().err
    assert shown.startswith("error: there is no lab 't-lab'\n")
    assert "next:  create it\n" in shown


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(
    "words",
    [("default/p",), ("pod/p",), ("pods/p",), ("po/p",), ("default/p", "--namespace", "default")],
)
def test_a_pod_is_named_as_lists_and_kubectl_name_it(
    lab: FakeApi, capsys: Output, words: tuple[str, ...]
) -> None:
    """With its namespace before it, or its kind."""
    del lab
    assert command(*words) == 0
    assert "default/p" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("prod/p", "--namespace", "test"), "prod/p is in prod, and --namespace says test"),
        (("prod/pods/p",), "POD prod/pods/p: write NAMESPACE/POD, or POD"),
    ],
)
def test_a_pod_that_is_named_in_two_ways_is_refused(
    lab: FakeApi, capsys: Output, words: tuple[str, ...], told: str
) -> None:
    """Nobody would know which of the two was looked at."""
    assert command(*words) == 2
    assert f"Error: {told}\n" in capsys.readouterr().err
    assert lab.requests == []


def test_kubectls_n_is_told_apart_from_the_labs(lab: FakeApi, capsys: Output) -> None:
    """A namespace after `-n` is no lab; the command that was meant is there to paste."""
    assert run(["timeline", "p", "-n", "prod"]) == 3
    shown = capsys.readouterr().err
    assert "  next:  -n is the lab, and the namespace is --namespace; name one that" in shown
    assert "$ gpulab timeline p --name t-lab --namespace prod\n" in shown
    assert lab.requests == []
