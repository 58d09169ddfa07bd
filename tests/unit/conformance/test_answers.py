"""What the checks make of names and answers that a plugin has given, one rule at a time."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import cast

import pytest

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateResponse,
    CDIDevice,
    ContainerAllocateResponse,
    Device,
    DevicePluginOptions,
    DeviceSpec,
    Mount,
    NUMANode,
    RegisterRequest,
    TopologyInfo,
)
from lab.conformance.check import Check, Failed, NotApplicable
from lab.conformance.checks import allocation, answers, ends, listing, optional, registration
from lab.conformance.trial import Trial
from lab.embedded.kubelet.journal import Call


def answering(*responses: ContainerAllocateResponse) -> Trial:
    """Return a plugin that gives this answer to whatever is asked."""

    def allocate(*_: Sequence[str]) -> AllocateResponse:
        return AllocateResponse(container_responses=responses)

    @contextmanager
    def calls() -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(allocate=allocate)

    return cast("Trial", SimpleNamespace(healthy=lambda _=1: ["gpu-0", "gpu-1"], calls=calls))


def registering(endpoint: str) -> Trial:
    """Return a plugin that has registered this socket."""
    call = Call("Register", "a/b", endpoint, RegisterRequest(endpoint=endpoint), 0.0)
    journal = SimpleNamespace(calls=lambda *_: [call])
    return cast("Trial", SimpleNamespace(resource="a/b", kubelet=SimpleNamespace(journal=journal)))


def listing_of(*devices: Device) -> Trial:
    """Return a plugin that lists these devices."""
    return cast("Trial", SimpleNamespace(some_devices=lambda: list(devices)))


def failure(check: Check[Trial], trial: Trial) -> str:
    """Return why the check fails."""
    with pytest.raises(Failed) as raised:
        check.make(trial)
    return str(raised.value)


LONG = "a" * 75


@pytest.mark.parametrize("endpoint", ["", ".", "..", "kubelet.sock", "../x", "/x"])
def test_an_endpoint_is_the_name_of_a_file_of_the_plugins_own(endpoint: str) -> None:
    """The kubelet would connect to its own folder, to itself, or to nobody."""
    told = f"{endpoint!r} is not the name of a file of its own in the kubelet's folder"
    assert failure(registration.endpoint, registering(endpoint)) == told


def test_an_endpoint_has_as_many_bytes_as_a_sockets_path_has_room_for() -> None:
    """On a node, below the kubelet's own folder, wherever ours is."""
    assert registration.endpoint.make(registering(LONG)) == LONG
    told = "on a node its path has 108 bytes, and a socket's at most 107"
    assert failure(registration.endpoint, registering(f"{LONG}a")).endswith(told)
    # A letter need not be a byte.
    assert failure(registration.endpoint, registering(f"{LONG[1:]}ä")).endswith(told)


@pytest.mark.parametrize(
    ("prefers", "starts", "told"),
    [
        (True, True, "offers GetPreferredAllocation and PreStartContainer"),
        (True, False, "offers GetPreferredAllocation"),
        (False, True, "offers PreStartContainer"),
        (False, False, "offers neither"),
    ],
)
def test_the_calls_that_are_offered_are_told(*, prefers: bool, starts: bool, told: str) -> None:
    """By the answer to GetDevicePluginOptions."""
    options = DevicePluginOptions(
        get_preferred_allocation_available=prefers, pre_start_required=starts
    )
    trial = registering("x.sock")
    vars(trial)["registered"] = lambda: SimpleNamespace(options=options)
    vars(trial.kubelet.journal)["calls"] = lambda name, _: [
        Call(name, "a/b", "x.sock", RegisterRequest(), 0.0, ended=1.0)
    ]
    assert registration.options.make(trial) == told


@pytest.mark.parametrize("number", [1, 3, 4, 9])
def test_of_many_names_the_first_are_told(number: int) -> None:
    """And how many there are besides."""
    told = listing.shown(f"d{each}" for each in range(number))
    assert told == {1: "'d0'", 3: "'d0', 'd1', 'd2'"}.get(
        number, f"'d0', 'd1', 'd2' and {number - 3} more"
    )


def test_ids_that_differ_are_told_by_which_went_and_which_came() -> None:
    """Of either as far as there are some."""
    assert listing.difference({"a", "b"}, {"b", "c"}) == "gone: 'a'; new: 'c'"
    assert listing.difference({"a"}, set()) == "gone: 'a'"
    assert listing.difference(set(), {"a"}) == "new: 'a'"


def test_a_topology_may_have_no_node() -> None:
    """It says nothing then, as one that is not there."""
    bare = Device(ID="a", topology=TopologyInfo())
    both = Device(ID="b", topology=TopologyInfo(nodes=[NUMANode(ID=1), NUMANode(ID=0)]))
    assert listing.numa.make(listing_of(bare, both)) == "nodes 0, 1"
    low = Device(ID="c", topology=TopologyInfo(nodes=[NUMANode(ID=1), NUMANode(ID=-1)]))
    assert failure(listing.numa, listing_of(both, low)) == "a NUMA node below 0, as -1, at 'c'"


TAKE = {
    allocation.allocate: 1,
    allocation.allocate_again: 1,
    allocation.allocate_several: 1,
    allocation.allocate_per_container: 2,
    allocation.allocate_concurrent: 1,
    answers.answer_envs: 1,
    answers.answer_mounts: 1,
    answers.answer_devices: 1,
    answers.answer_cdi: 1,
}


@pytest.mark.parametrize("given", [0, 3])
@pytest.mark.parametrize("check", TAKE, ids=lambda each: each.rule.id)
def test_whoever_asks_for_devices_counts_what_is_answered(check: Check[Trial], given: int) -> None:
    """A container response for each container, no more and no less, at every single call."""
    wanted = "1 container request" if TAKE[check] == 1 else "2 container requests"
    told = f"{given} container responses to {wanted}"
    assert failure(check, answering(*[ContainerAllocateResponse()] * given)) == told


ANSWERS = [each for each in TAKE if each.rule.id.startswith("answer-")]


@pytest.mark.parametrize("check", ANSWERS, ids=lambda each: each.rule.id)
def test_an_answer_need_not_have_everything(check: Check[Trial]) -> None:
    """What is not there is not checked."""
    with pytest.raises(NotApplicable, match="there are none"):
        check.make(answering(ContainerAllocateResponse()))


@pytest.mark.parametrize(("name", "value"), [("", "x"), ("A=B", "x"), ("A\0B", "x"), ("A", "x\0y")])
def test_a_variable_that_cannot_be_set_is_told(name: str, value: str) -> None:
    """With its value, beside one that can."""
    trial = answering(ContainerAllocateResponse(envs={"GPU": "0=1", name: value}))
    told = f"the variable {name!r} with the value {value!r}"
    assert failure(answers.answer_envs, trial) == told
    well = answering(ContainerAllocateResponse(envs={"GPU": "0=1", "B": ""}))
    assert answers.answer_envs.make(well) == "B, GPU"


@pytest.mark.parametrize("permissions", ["", "x", "rwx", "rr", "rwmr", "RW", "r w"])
def test_permissions_are_letters_of_rwm(permissions: str) -> None:
    """Each once, and one at least."""
    device = DeviceSpec(container_path="/dev/a", host_path="/dev/a", permissions=permissions)
    told = f"permissions {permissions!r} of /dev/a"
    trial = answering(ContainerAllocateResponse(devices=[device]))
    assert failure(answers.answer_devices, trial) == told


@pytest.mark.parametrize("permissions", ["r", "mw", "rwm"])
def test_permissions_may_be_any_of_rwm(permissions: str) -> None:
    """In any order."""
    device = DeviceSpec(container_path="/dev/a", host_path="/dev/a", permissions=permissions)
    trial = answering(ContainerAllocateResponse(devices=[device]))
    assert answers.answer_devices.make(trial) == "1 device file"


@pytest.mark.parametrize(("container", "host"), [("a", "/a"), ("/a", "a"), ("/a", ""), ("", "/a")])
def test_a_path_that_is_not_absolute_is_told(container: str, host: str) -> None:
    """Of a mount and of a device file, inside and outside; none is not absolute either."""
    kind, path = ("host path", host) if container == "/a" else ("container path", container)
    mount = Mount(container_path=container, host_path=host)
    device = DeviceSpec(container_path=container, host_path=host, permissions="r")
    trial = answering(ContainerAllocateResponse(mounts=[mount], devices=[device]))
    for check in (answers.answer_mounts, answers.answer_devices):
        assert failure(check, trial) == f"the {kind} {path!r} is not absolute"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gpu0", "must be a vendor and a class with a slash between"),
        ("a.b/gpu", "must have letters, digits"),
        ("a.b/gpu=", "must have letters, digits"),
        ("a.b/gpu=-1", "must have letters, digits"),
    ],
)
def test_a_cdi_device_is_named_in_full_wherever_it_is(name: str, told: str) -> None:
    """In the field, and in an annotation, of which each may have several."""
    field = ContainerAllocateResponse(
        cdi_devices=[CDIDevice(name="a.b/gpu=0"), CDIDevice(name=name)]
    )
    noted = ContainerAllocateResponse(
        annotations={"cdi.k8s.io/a": "a.b/gpu=0", "cdi.k8s.io/b": f"a.b/gpu=1,{name}"}
    )
    for answer in (field, noted):
        words = failure(answers.answer_cdi, answering(answer))
        assert words.startswith(f"the name {name!r} {told}")


def test_other_annotations_name_no_cdi_devices() -> None:
    """Beside them those of CDI are told."""
    answer = ContainerAllocateResponse(
        annotations={"example.com/a": "whatever", "cdi.k8s.io/a": "a.b/gpu=1,a.b/gpu=2"},
        cdi_devices=[CDIDevice(name="a.b/gpu=0")],
    )
    assert answers.answer_cdi.make(answering(answer)) == "a.b/gpu=0, a.b/gpu=1, a.b/gpu=2"


class Calls:
    """A plugin's calls, in the order in which they came, and whom it prefers."""

    def __init__(self, prefers: Callable[[Sequence[str], Sequence[str], int], list[str]]) -> None:
        self.asked: list[str] = []
        self.preferred = prefers

    def allocate(self, ids: Sequence[str]) -> None:
        """Give devices."""
        self.asked.append(f"Allocate {ids[0]}")

    def pre_start(self, ids: Sequence[str]) -> None:
        """Hear of a container."""
        self.asked.append(f"PreStartContainer {ids[0]}")


def offering(calls: Calls) -> Trial:
    """Return a plugin of four devices that offers all calls."""
    options = DevicePluginOptions(get_preferred_allocation_available=True, pre_start_required=True)
    return cast(
        "Trial",
        SimpleNamespace(
            healthy=lambda: ["a", "b", "c", "d"],
            registered=lambda: SimpleNamespace(options=options),
            calls=lambda: nullcontext(calls),
            clock=SimpleNamespace(now=lambda: 0.0),
        ),
    )


def test_a_preference_is_asked_for_with_and_without_devices_that_must_be_there() -> None:
    """A plugin may fail at the one and not at the other."""

    def first(available: Sequence[str], must: Sequence[str], size: int) -> list[str]:
        return [*must, *(each for each in available if each not in must)][:size]

    well = "of 4 devices 1, 2, 4"
    assert optional.preferred.make(offering(Calls(first))) == well
    bare = Calls(lambda *asked: first(*asked) if asked[1] else [])
    assert failure(optional.preferred, offering(bare)) == "0 IDs, where 1 of 4 were asked for"
    deaf = Calls(lambda available, _, size: list(available[:size]))
    assert failure(optional.preferred, offering(deaf)) == (
        "'d' is not in the answer, where it must be"
    )


def test_a_container_is_announced_with_a_device_that_it_was_given() -> None:
    """As a kubelet does: a plugin need not know of any other."""
    calls = Calls(lambda *_: [])
    optional.pre_start.make(offering(calls))
    assert calls.asked == ["Allocate a", "PreStartContainer a"]


def test_ids_of_before_that_nobody_knows_any_more_are_not_compared() -> None:
    """None of them would have gone."""
    trial = cast("Trial", SimpleNamespace(first_list=list))
    with pytest.raises(NotApplicable, match="it listed no devices before"):
        ends.ids_stable.make(trial)
