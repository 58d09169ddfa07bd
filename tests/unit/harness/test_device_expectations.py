"""What is expected of the devices that containers were given."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from lab.cluster.connection import ApiFailed
from lab.cluster.objects import Container
from lab.core.errors import CheckFailed, UsageError
from lab.harness.failure import ExpectationFailed
from lab.harness.lab import Lab
from tests.unit.harness.cluster import GPU, Cluster, running
from tests.unit.harness.conftest import NO_CAT, ExpectPod, Inside

RUNS: dict[str, Any] = {"phase": "Running", "node": "w", "containers": (running(),)}
BOTH: dict[str, Any] = {
    **RUNS,
    "containers": (running("first"), running("second")),
    "images": ("busybox:1.36",) * 2,
    "limits": {"first": {GPU: 1}, "second": {GPU: 1}},
}


def give(inside: Inside, **devices: str) -> None:
    """Let pods see these devices; `p_first` is the container first of p."""
    for name, seen in devices.items():
        inside.environment[name.replace("_", "/")] = {"GPULAB_VISIBLE_DEVICES": seen}


def test_pods_that_share_a_card_see_the_same(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """In whatever order they have its names."""
    cluster.pod("p", **RUNS)
    cluster.pod("q", **RUNS)
    give(inside, p="GPU-1,GPU-2", q="GPU-2,GPU-1")
    expect_pod("p").sees_the_devices_of(expect_pod("q"))


@pytest.mark.parametrize(
    ("theirs", "told"),
    [
        ("GPU-3", "it sees GPU-1, and q sees GPU-3"),
        ("GPU-1,GPU-2", "it sees GPU-1, and q sees GPU-1, GPU-2"),
    ],
)
def test_pods_that_do_not_share_are_told_apart(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside, theirs: str, told: str
) -> None:
    """With what each of them sees."""
    cluster.pod("p", **RUNS)
    cluster.pod("q", **RUNS)
    give(inside, p="GPU-1", q=theirs)
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod("p").sees_the_devices_of(expect_pod("q"))
    assert raised.value.seen == told


def test_none_and_none_is_not_sharing(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """Nothing is shared by two that have nothing."""
    cluster.pod("p", **RUNS)
    cluster.pod("q", **RUNS)
    give(inside, p="", q="")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod("p").sees_the_devices_of(expect_pod("q"), within=1)
    assert raised.value.seen == "it sees no device; Running, on w"
    give(inside, p="GPU-1")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod("p").sees_the_devices_of(expect_pod("q"), within=1)
    assert raised.value.seen == "q: it sees no device; Running, on w"


def test_containers_have_devices_of_their_own(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """A sidecar's are looked at, too; an init container that has ended has none any more."""
    ended = Container("init", "terminated", exit_code=0)
    cluster.pod(**BOTH, init_containers=(ended, running("sidecar")))
    give(inside, p_first="GPU-1", p_second="GPU-2", p_sidecar="GPU-3", p_init="GPU-1")
    expect_pod().each_container_has_its_own()
    give(inside, p_sidecar="GPU-2")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().each_container_has_its_own()
    assert raised.value.seen == "sidecar and second both see GPU-2"


def test_a_container_that_waits_is_waited_for(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """It may be given the very device that another one has."""
    waits = Container("third", "waiting", reason="ContainerCreating")
    cluster.pod(**{**BOTH, "containers": (*BOTH["containers"], waits)})
    three = (*BOTH["containers"], running("third"))
    cluster.clock.at(3, lambda: cluster.pod(**{**BOTH, "containers": three}))
    give(inside, p_first="GPU-1", p_second="GPU-2", p_third="GPU-1")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().each_container_has_its_own()
    assert raised.value.seen == "first and third both see GPU-1"


def test_a_neighbour_that_cannot_be_read_proves_nothing(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """Where it asks for devices; it has no `cat`, or the server lets nobody in."""
    cluster.pod("p", **RUNS)
    cluster.pod("q", **RUNS, requests={GPU: 1})
    give(inside, p="GPU-1")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod("p").sees_only_its_devices(within=1)
    assert raised.value.seen == (f"the environment of container main of q cannot be read: {NO_CAT}")
    cluster.pod("q", **RUNS, requests={})
    expect_pod("p").sees_only_its_devices()


def test_a_sidecars_unhealthy_device_is_one_of_the_pods(
    cluster: Cluster, expect_pod: ExpectPod
) -> None:
    """Its status is with those of the init containers."""
    sidecar = replace(running("sidecar"), unhealthy=frozenset({"GPU-1"}))
    cluster.pod(**RUNS, init_containers=(sidecar,))
    expect_pod().holds_unhealthy("GPU-1")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().holds_unhealthy(within=1)
    assert raised.value.seen == "unhealthy: GPU-1"


def test_containers_without_any_device_are_not_enough(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """It would hold of every pod."""
    cluster.pod(**BOTH)
    cluster.pod(**{**BOTH, "limits": {"first": {}, "second": {}}})
    give(inside, p="")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().each_container_has_its_own(within=1)
    assert raised.value.seen == "containers that see devices: none; Running, on w"


def test_one_container_with_devices_is_not_enough(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """It has its own for want of another, be it the only one or beside one that asks for none."""
    cluster.pod(**RUNS)
    give(inside, p="GPU-1")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().each_container_has_its_own(within=1)
    assert raised.value.seen == "containers that see devices: main; Running, on w"
    cluster.pod(**{**BOTH, "limits": {"first": {GPU: 1}, "second": {}}})
    give(inside, p_second="")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().each_container_has_its_own(within=1)
    assert raised.value.seen == "containers that see devices: first; Running, on w"


def test_a_container_that_asks_and_sees_none_is_told(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """Beside two that have devices of their own; of a resource that it does not ask for it may."""
    three = (*BOTH["containers"], running("third"))
    limits = {**BOTH["limits"], "third": {GPU: 1}}
    cluster.pod(**{**BOTH, "containers": three, "limits": limits})
    give(inside, p_first="GPU-1", p_second="GPU-2", p_third="")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().each_container_has_its_own()
    assert raised.value.seen == "third asks for devices, and sees none"
    other = {GPU: 0, "amd.com/gpu": 1}
    cluster.pod(**{**BOTH, "containers": three, "limits": {**limits, "third": other}})
    of_gpu = "GPULAB_VISIBLE_DEVICES_NVIDIA_COM_GPU"
    inside.environment = {"p/first": {of_gpu: "1"}, "p/second": {of_gpu: "2"}, "p/third": {}}
    expect_pod().each_container_has_its_own(GPU)


def test_every_container_of_two_pods_is_looked_at(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """A device can be the second container's, or a sidecar's, of either pod."""
    for name in ("p", "q"):
        cluster.pod(name, **{**BOTH, "init_containers": (running("sidecar"),)})
    give(inside, p_first="GPU-1", p_second="GPU-2", p_sidecar="GPU-3")
    give(inside, q_first="GPU-4", q_second="GPU-5", q_sidecar="GPU-6")
    expect_pod("p").sees_only_its_devices()
    give(inside, q_second="GPU-3")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod("p").sees_only_its_devices()
    assert raised.value.seen == "q sees GPU-3, too"
    give(inside, q_first="GPU-1,GPU-2", q_sidecar="GPU-1")
    expect_pod("p").sees_the_devices_of(expect_pod("q"))


def test_a_container_of_its_own_that_waits_may_see_more(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """What it sees is not known yet; one that has ended sees nothing any more."""
    first, ended = running("first"), Container("second", "terminated", exit_code=0, reason="Done")
    cluster.pod(**{**BOTH, "containers": (first, Container("second"))})
    give(inside, p_first="GPU-1")
    with pytest.raises(ExpectationFailed, match="Running, on w"):
        expect_pod().sees_only_its_devices(within=1)
    cluster.pod(**{**BOTH, "containers": (first, ended)})
    expect_pod().sees_only_its_devices()


def test_what_the_server_forbids_is_no_want_of_devices(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """It is told as it is, and at once: nothing that a test waits for ends it."""
    cluster.pod(**RUNS)
    inside.refuse("p", 403, 'User "jane" cannot create resource "pods/exec"')
    with pytest.raises(ApiFailed, match="pods/exec"):
        expect_pod().holds_devices(0)
    assert cluster.clock.now() == 0


def test_a_container_that_does_not_run_is_waited_for(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """And the server's words are told of it."""
    cluster.pod(**RUNS)
    inside.refuse("p", 400, "pod p does not have a host assigned")
    cluster.clock.at(2, inside.refusals.clear)
    give(inside, p="GPU-1")
    expect_pod().holds_devices(1)
    inside.refuse("p", 400, "pod p does not have a host assigned")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().holds_devices(1, within=1)
    assert raised.value.seen == (
        "the environment of p cannot be read: pod p does not have a host assigned"
    )


@pytest.mark.parametrize(
    ("container", "told"),
    [
        ("third", "the pod p has no container 'third'"),
        ("", "the pod p has several containers: say which is meant"),
    ],
)
def test_a_container_has_to_be_named_where_there_are_several(
    cluster: Cluster, expect_pod: ExpectPod, container: str, told: str
) -> None:
    """And rightly; the API server does not choose one either."""
    cluster.pod(**BOTH)
    for ask in (expect_pod().devices, expect_pod().log):
        with pytest.raises(UsageError) as raised:
            ask(container=container)
        assert raised.value.what == told
        assert raised.value.seen == "containers that it has: first, second"


@pytest.mark.parametrize(
    ("devices", "nodes"), [("GPU-0,GPU-1", 1), ("GPU-2", 1), ("GPU-1,GPU-2,GPU-3", 2)]
)
def test_devices_are_on_numa_nodes(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside, devices: str, nodes: int
) -> None:
    """By what the plugin says of each: here two cards to a NUMA node."""
    cluster.pod(**RUNS)
    give(inside, p=devices)
    expect_pod().on_numa_nodes(nodes)
    with pytest.raises(ExpectationFailed):
        expect_pod().on_numa_nodes(3 - nodes)


@pytest.mark.parametrize(
    ("devices", "told"),
    [
        ("GPU-1,GPU-2", "GPU-1 on 0, GPU-2 on 1"),
        ("GPU-8,GPU-9", "GPU-8 on None, GPU-9 on None"),
    ],
    ids=["known", "unknown"],
)
def test_the_report_tells_where_each_device_is(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside, devices: str, told: str
) -> None:
    """A plugin need not tell it: two that are unknown are not on one NUMA node."""
    cluster.pod(**RUNS)
    give(inside, p=devices)
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().on_numa_nodes(1)
    assert raised.value.seen == told


def test_a_plugin_that_starts_again_is_waited_for_until_it_tells_where_devices_are(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It tells nothing meanwhile, and that is told where it does not come."""

    def away(*_: object) -> Mapping[str, int]:
        if cluster.clock.now() < 3:
            raise CheckFailed("the plugin does not answer", seen="Connection refused")
        return {"GPU-1": 0}

    monkeypatch.setattr(Lab, "_numa_nodes", away)
    cluster.pod(**RUNS)
    give(inside, p="GPU-1")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().on_numa_nodes(1, within=1)
    assert raised.value.seen == "the plugin does not answer: Connection refused"
    expect_pod().on_numa_nodes(1)
    assert cluster.clock.now() == 3


def test_devices_are_returned_by_their_names(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """Of the container that is asked for."""
    cluster.pod(**BOTH)
    give(inside, p_first="GPU-1,GPU-2", p_second="GPU-3")
    assert expect_pod().devices(container="first") == ("GPU-1", "GPU-2")
    assert expect_pod().devices(container="second") == ("GPU-3",)


def test_devices_are_returned_as_soon_as_the_pod_is_up(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """Whoever breaks them need not wait by themselves before."""
    cluster.pod("p", phase="Pending")
    cluster.clock.at(5, lambda: cluster.pod("p", **RUNS))
    give(inside, p="GPU-1")
    assert expect_pod().devices() == ("GPU-1",)


def test_a_pod_without_devices_has_none_to_return(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """A test that goes through them would else pass for want of any."""
    cluster.pod(**RUNS)
    give(inside, p="")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().devices()
    assert (raised.value.awaited, raised.value.seen) == ("holds devices", "it holds none")
