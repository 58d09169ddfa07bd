"""Answers that are wrong on purpose."""

import pytest
from google.protobuf.message import Message

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    AllocateResponse,
    ContainerAllocateResponse,
    ContainerPreferredAllocationRequest,
    ContainerPreferredAllocationResponse,
    Device,
    DevicePluginOptions,
    Empty,
    ListAndWatchResponse,
    PreferredAllocationRequest,
    PreferredAllocationResponse,
)
from fake_plugin.faults.fault import WrongAnswer
from fake_plugin.faults.wrong import UNKNOWN, spoiled

LIST = ListAndWatchResponse(devices=[Device(ID="d0", health="Unhealthy"), Device(ID="d1")])
ALLOCATED = AllocateResponse(container_responses=[ContainerAllocateResponse(envs={"a": "b"})])


@pytest.mark.parametrize(
    ("kind", "ids"),
    [
        ("empty", []),
        ("too-few", ["d0"]),
        ("too-many", ["d0", "d1", UNKNOWN]),
        ("unknown-device", [UNKNOWN, "d1"]),
    ],
)
def test_a_wrong_list(kind: WrongAnswer, ids: list[str]) -> None:
    """The list of devices is too short, too long, or names one that nobody has."""
    wrong = spoiled(LIST, kind, Empty())
    assert isinstance(wrong, ListAndWatchResponse)
    assert [device.ID for device in wrong.devices] == ids


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        ("empty", []),
        ("too-few", []),
        ("too-many", [[], []]),
        ("unknown-device", [[f"/dev/{UNKNOWN}"]]),
    ],
)
def test_a_wrong_allocation(kind: WrongAnswer, files: list[list[str]]) -> None:
    """Containers are too many or too few, or get a file that the node does not have."""
    wrong = spoiled(ALLOCATED, kind, AllocateRequest())
    assert isinstance(wrong, AllocateResponse)
    answers = wrong.container_responses
    assert [[spec.host_path for spec in each.devices] for each in answers] == files
    assert all(each.envs["a"] == "b" for each in answers)


@pytest.mark.parametrize(
    ("kind", "available", "ids"),
    [
        ("empty", ["d0", "d1"], []),
        ("too-few", ["d0", "d1"], [["d0"]]),
        ("too-many", ["d0", "d1", "d2"], [["d0", "d1", "d2"]]),
        ("too-many", ["d0", "d1"], [["d0", "d1", UNKNOWN]]),
        ("unknown-device", ["d0", "d1"], [[UNKNOWN, "d1"]]),
    ],
)
def test_a_wrong_preference(kind: WrongAnswer, available: list[str], ids: list[list[str]]) -> None:
    """More IDs than were asked for, fewer, or one that is not to be had."""
    asked = ContainerPreferredAllocationRequest(available_deviceIDs=available, allocation_size=2)
    right = ContainerPreferredAllocationResponse(deviceIDs=["d0", "d1"])
    wrong = spoiled(
        PreferredAllocationResponse(container_responses=[right]),
        kind,
        PreferredAllocationRequest(container_requests=[asked]),
    )
    assert isinstance(wrong, PreferredAllocationResponse)
    assert [[*each.deviceIDs] for each in wrong.container_responses] == ids


@pytest.mark.parametrize("right", [LIST, ALLOCATED])
def test_the_right_answer_stays_as_it_is(right: Message) -> None:
    """The list is one for all streams, and must not be spoiled for the others."""
    before = right.SerializeToString(deterministic=True)
    spoiled(right, "unknown-device", Empty())
    assert right.SerializeToString(deterministic=True) == before


def test_options_can_be_empty_and_no_more() -> None:
    """A rule that asks for more is refused before it comes to this."""
    options = DevicePluginOptions(pre_start_required=True)
    assert spoiled(options, "empty", Empty()) == DevicePluginOptions()
    with pytest.raises(TypeError, match="a DevicePluginOptions cannot be wrong"):
        spoiled(options, "too-few", Empty())
