"""The checkpoint file is what a kubelet writes, and what one accepts.

The texts and checksums below are those of the package devicemanager/checkpoint of Kubernetes
1.36.3, made by a small program in Go that printed what it marshalled.
"""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from fake_plugin.api.deviceplugin_pb2 import ContainerAllocateResponse
from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.checkpoint import (
    NAME,
    CheckpointDamaged,
    read_checkpoint,
    write_checkpoint,
)
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.holdings import Holding, Holdings
from tests.unit.embedded.conftest import Serve, lose, send
from tests.unit.embedded.plugin import RESOURCE, healthy, unhealthy
from tests.unit.embedded.pods import pod_of

FULL = (
    '{"Data":{"PodDeviceEntries":[{"PodUID":"uid-1","ContainerName":"c",'
    '"ResourceName":"a.com/x","DeviceIDs":{"-1":["d1","d\\u003c2\\u0026\\"ü"],"10":["d3"],'
    '"2":[]},"AllocResp":""},{"PodUID":"uid-2","ContainerName":"c","ResourceName":"a.com/y",'
    '"DeviceIDs":{},"AllocResp":"Cv8A"},{"PodUID":"uid-3","ContainerName":"",'
    '"ResourceName":"a.com/y","DeviceIDs":null,"AllocResp":null}],"RegisteredDevices":'
    '{"a.com/X":[""],"a.com/x":["g"],"b.com/x":["d2","d1"]}},"Checksum":2296439501}'
)


@pytest.mark.parametrize(
    ("text", "registered"),
    [
        ('{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":3467439661}', []),
        ('{"Data":{"PodDeviceEntries":null,"RegisteredDevices":null},"Checksum":1944006890}', []),
        (
            (
                '{"Data":{"PodDeviceEntries":[],"RegisteredDevices":{"a.com/x":null,"b.com/x":[]}},'
                '"Checksum":2165022242}'
            ),
            ["a.com/x", "b.com/x"],
        ),
        (FULL, ["a.com/X", "a.com/x", "b.com/x"]),
    ],
)
def test_what_kubernetes_wrote_is_read(tmp_path: Path, text: str, registered: list[str]) -> None:
    """The checksum is over a text of Go's that tells null from empty."""
    (tmp_path / NAME).write_text(text)
    assert read_checkpoint(tmp_path)[1] == registered


def test_holdings_are_read_with_their_numa_nodes(tmp_path: Path) -> None:
    """An entry whose answer cannot be read is left out, as by the kubelet."""
    (tmp_path / NAME).write_text(FULL)
    found = {(uid, resource): holding for uid, _, resource, holding in read_checkpoint(tmp_path)[0]}
    assert found.keys() == {("uid-1", "a.com/x"), ("uid-3", "a.com/y")}
    by_numa = found["uid-1", "a.com/x"].by_numa
    assert by_numa == {-1: ("d1", 'd<2&"ü'), 10: ("d3",), 2: ()}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2296439501", "2296439502"),
        ("uid-1", "uid-9"),
        ('"d3"', '"d4"'),
        ('"AllocResp":""', '"AllocResp":null'),
        ('"2":[]', '"2":null'),
    ],
)
def test_any_change_is_noticed(tmp_path: Path, old: str, new: str) -> None:
    """The words are the kubelet's."""
    (tmp_path / NAME).write_text(FULL.replace(old, new))
    with pytest.raises(CheckpointDamaged, match=r"^checkpoint is corrupted$"):
        read_checkpoint(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"Data":[],"Checksum":1}', FULL.replace("Cv8A", "no base 64")]
)
def test_what_is_no_checkpoint_is_damaged(tmp_path: Path, text: str) -> None:
    """Whatever is in the file, it is this error."""
    (tmp_path / NAME).write_text(text)
    with pytest.raises(CheckpointDamaged):
        read_checkpoint(tmp_path)


def test_no_file_is_no_damage(tmp_path: Path) -> None:
    """A new node has none."""
    holdings, registered = read_checkpoint(tmp_path)
    assert ([*holdings], registered) == ([], [])


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    """Over an older file, with nothing else left in the folder."""
    answer = ContainerAllocateResponse(envs={"A": "x" * 200})
    holdings = Holdings()
    for _ in range(2):
        holdings.insert("u", "c", "a.com/x", Holding({-1: ["d<1>"], 3: ["d2"]}, answer))
        write_checkpoint(tmp_path, holdings, {"a.com/x": {"d2"}, "b.com/x": set()})
    read, registered = read_checkpoint(tmp_path)
    assert registered == ["a.com/x", "b.com/x"]
    assert [*read] == [("u", "c", "a.com/x", Holding({-1: ("d<1>",), 3: ("d2",)}, answer))]
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_without_pods_the_entries_are_null(tmp_path: Path) -> None:
    """As Go writes a list that was never made."""
    write_checkpoint(tmp_path, Holdings(), {})
    assert json.loads((tmp_path / NAME).read_text()) == {
        "Data": {"PodDeviceEntries": None, "RegisteredDevices": {}},
        "Checksum": 3467439661,
    }


def written(folder: Path) -> dict[str, Any]:
    """Return the data of the file."""
    data: dict[str, Any] = json.loads((folder / NAME).read_text())["Data"]
    return data


def test_it_is_written_on_each_list(kubelet: DeviceManager, serve: Serve, folder: Path) -> None:
    """With the healthy devices alone."""
    plugin = serve(healthy("a"), unhealthy("b"))
    assert written(folder)["RegisteredDevices"] == {RESOURCE: ["a"]}
    send(kubelet, plugin, unhealthy("a", "b"))
    assert written(folder)["RegisteredDevices"] == {RESOURCE: []}


def test_it_is_written_after_an_allocation(
    kubelet: DeviceManager, serve: Serve, folder: Path
) -> None:
    """With the plugin's answer, as bytes."""
    serve(healthy("a", numa=1))
    kubelet.admit(pod_of("u", 1))
    (entry,) = written(folder)["PodDeviceEntries"]
    answer = ContainerAllocateResponse.FromString(base64.b64decode(entry.pop("AllocResp")))
    assert answer.envs == {"DEVICES": "a"}
    assert entry == {
        "PodUID": "u",
        "ContainerName": "app",
        "ResourceName": RESOURCE,
        "DeviceIDs": {"1": ["a"]},
    }


def test_it_is_not_written_when_a_pod_goes(
    kubelet: DeviceManager, serve: Serve, folder: Path
) -> None:
    """A deleted pod stays in the file until something else is written (#137010)."""
    plugin = serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    kubelet.remove("u")
    kubelet.tick()
    send(kubelet, plugin, healthy("a", "b"))
    assert [entry["PodUID"] for entry in written(folder)["PodDeviceEntries"]] == ["u"]
    kubelet.admit(pod_of("v", 1))
    assert [entry["PodUID"] for entry in written(folder)["PodDeviceEntries"]] == ["v"]


def test_it_is_written_when_a_resource_expires(
    kubelet: DeviceManager, serve: Serve, folder: Path, clock: VirtualClock
) -> None:
    """So a restart does not bring it back; who holds devices of it is kept."""
    plugin = serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    lose(kubelet, plugin)
    clock.advance(330)
    assert written(folder)["RegisteredDevices"] == {}
    assert len(written(folder)["PodDeviceEntries"]) == 1


def test_a_pod_fails_where_it_cannot_be_written(
    kubelet: DeviceManager, serve: Serve, folder: Path
) -> None:
    """What is not on record would be lost by a restart."""
    serve(healthy("a"))
    (folder / NAME).unlink()
    (folder / NAME).mkdir()
    rejection = kubelet.admit(pod_of("u", 1))
    assert rejection
    assert rejection.message.startswith(
        'Allocate failed due to failed to write checkpoint file "kubelet_internal_checkpoint": '
    )
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
