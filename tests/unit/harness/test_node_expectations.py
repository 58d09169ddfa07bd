"""What is expected of a node."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import JsonValue

from fake_plugin.faults.fault import Call as Method
from lab.cluster.plugin.journal import Call
from lab.core.errors import CheckFailed, UsageError
from lab.harness.expectations.nodes import NodeExpectation
from lab.harness.failure import ExpectationFailed
from tests.unit.harness.cluster import GPU, NOON, Cluster


def test_devices_are_waited_for(cluster: Cluster, expect_node: NodeExpectation) -> None:
    """To the moment at which the node shows them."""
    cluster.node(allocatable={GPU: 7})
    cluster.clock.at(4.2, lambda: cluster.node(allocatable={GPU: 8}))
    expect_node.allocatable(8).capacity(8)
    assert cluster.clock.now() == pytest.approx(4.2)


def test_the_report_tells_what_the_node_shows(
    cluster: Cluster, expect_node: NodeExpectation
) -> None:
    """All of its resources, and whether it is Ready."""
    cluster.node(ready=False, capacity={GPU: 8, "amd.com/gpu": 2}, allocatable={GPU: 7})
    with pytest.raises(ExpectationFailed) as raised:
        expect_node.allocatable(8, within=5)
    assert str(raised.value) == (
        "node nvidia-0 (w): expected: 8 nvidia.com/gpu allocatable; not within 5 s\n"
        "  where: node nvidia-0 (w)\n"
        "  seen:  amd.com/gpu: 0 of 2 allocatable, nvidia.com/gpu: 7 of 8 allocatable; "
        "it is not Ready\n"
        "  next:  look at what is there\n"
        "         $ kubectl --kubeconfig '/my lab/kubeconfig' describe node w\n"
        "         $ gpulab status --name t"
    )


def test_names_that_earlier_fleets_have_left_are_not_in_the_report(
    cluster: Cluster, expect_node: NodeExpectation
) -> None:
    """A kubelet keeps them with 0 devices; of the one that is awaited that is what matters."""
    left = {"amd.com/gpu": 0, GPU: 0}
    cluster.node(capacity={**left, "a.b/c": 1}, allocatable=left)
    with pytest.raises(ExpectationFailed) as raised:
        expect_node.allocatable(8, within=1)
    assert raised.value.seen == "a.b/c: 0 of 1 allocatable, nvidia.com/gpu: 0 of 0 allocatable"
    cluster.node(capacity=left, allocatable=left)
    with pytest.raises(ExpectationFailed) as raised:
        expect_node.capacity(8, "x.y/z", within=1)
    assert raised.value.seen == "no resource has devices"


def test_what_a_node_can_keep_is_one_of_two(cluster: Cluster, expect_node: NodeExpectation) -> None:
    """Whoever has no checker of types is told so, too."""
    cluster.node(capacity={GPU: 2})
    expect_node.keeps(2, lasting=1, of="capacity")
    with pytest.raises(UsageError, match="its allocatable or its capacity") as raised:
        expect_node.keeps(2, lasting=1, of="allocated")  # type: ignore[arg-type]
    assert raised.value.seen == "of='allocated'"


def test_no_key_is_not_the_same_as_none(cluster: Cluster, expect_node: NodeExpectation) -> None:
    """A kubelet that forgets a resource keeps its key with 0 devices."""
    cluster.node(capacity={}, allocatable={})
    expect_node.has_no(GPU)
    with pytest.raises(ExpectationFailed):
        expect_node.allocatable(0, within=1)
    cluster.node(capacity={GPU: 0}, allocatable={GPU: 0})
    with pytest.raises(ExpectationFailed):
        expect_node.has_no(GPU)


@pytest.mark.parametrize("half", ["capacity", "allocatable"])
def test_half_a_key_is_one(cluster: Cluster, expect_node: NodeExpectation, half: str) -> None:
    """A node knows a resource that it shows in one of both only."""
    shown: dict[str, Any] = {"capacity": {}, "allocatable": {}, half: {GPU: 0}}
    cluster.node(**shown)
    with pytest.raises(ExpectationFailed, match=f"has no {GPU}"):
        expect_node.has_no(GPU)


def test_what_pods_ask_for_is_waited_for(cluster: Cluster, expect_node: NodeExpectation) -> None:
    """The node shows the same all the time."""
    cluster.node()
    cluster.pod()
    cluster.clock.at(2, lambda: cluster.pod("other", requests={GPU: 2}))
    expect_node.requested(3).allocatable(8)
    with pytest.raises(
        ExpectationFailed, match=r"8 nvidia.com/gpu requested; not within"
    ) as raised:
        expect_node.requested(8, within=1)
    assert raised.value.seen == "pods ask for 3 nvidia.com/gpu"


def test_a_number_is_kept(cluster: Cluster, expect_node: NodeExpectation) -> None:
    """For the time that is said, and not longer."""
    cluster.node()
    cluster.clock.at(6, lambda: cluster.node(allocatable={GPU: 7}))
    expect_node.keeps(8, lasting=5)
    with pytest.raises(ExpectationFailed, match=r"keeps 8 nvidia.com/gpu allocatable; over after"):
        expect_node.keeps(8, lasting=5)


def test_what_is_kept_is_what_was_asked_for(cluster: Cluster, expect_node: NodeExpectation) -> None:
    """Capacity goes on where nothing of it can be given out, and the other way round."""
    cluster.node(capacity={GPU: 8}, allocatable={GPU: 0})
    expect_node.keeps(8, lasting=2, of="capacity").keeps(0, lasting=2)
    with pytest.raises(ExpectationFailed, match=f"keeps 0 {GPU} capacity"):
        expect_node.keeps(0, lasting=2, of="capacity")
    with pytest.raises(ExpectationFailed, match=f"keeps 8 {GPU} allocatable"):
        expect_node.keeps(8, lasting=2)


def test_a_label_is_found_with_and_without_its_value(
    cluster: Cluster, expect_node: NodeExpectation
) -> None:
    """What it is instead is told."""
    cluster.node(labels={"nvidia.com/gpu.product": "NVIDIA-L4"})
    expect_node.label("nvidia.com/gpu.product").label("nvidia.com/gpu.product", "NVIDIA-L4")
    with pytest.raises(ExpectationFailed) as raised:
        expect_node.label("nvidia.com/gpu.product", "NVIDIA-H100", within=1)
    assert raised.value.seen == "nvidia.com/gpu.product=NVIDIA-L4"


def test_ready_and_not_ready(cluster: Cluster, expect_node: NodeExpectation) -> None:
    """Each waits for the other to end."""
    cluster.node(ready=False)
    cluster.clock.at(2, cluster.node)
    expect_node.not_ready().ready()
    with pytest.raises(ExpectationFailed):
        expect_node.not_ready(within=1)


def test_never_sees_a_number_that_was_there_for_a_moment(
    cluster: Cluster, expect_node: NodeExpectation
) -> None:
    """Between two looks it was 0."""
    cluster.node()

    def blink() -> None:
        cluster.node(allocatable={GPU: 0})
        cluster.node()

    cluster.clock.at(1, blink)
    with pytest.raises(ExpectationFailed) as raised:
        expect_node.never("without devices", lambda node: not node.allocatable[GPU], lasting=3)
    assert raised.value.seen == "nvidia.com/gpu: 0 of 8 allocatable"


def test_never_is_about_this_node_and_from_now_on(
    cluster: Cluster, expect_node: NodeExpectation
) -> None:
    """Neither what it was before counts, nor what another one is."""
    cluster.node(allocatable={GPU: 0})
    cluster.node()
    cluster.clock.at(1, lambda: cluster.node("other", allocatable={GPU: 0}))
    expect_node.never("without devices", lambda node: not node.allocatable[GPU], lasting=3)
    assert cluster.clock.now() == pytest.approx(3)


def test_never_holds_what_is_so_already_against_it(
    cluster: Cluster, expect_node: NodeExpectation
) -> None:
    """Without any change, and at once."""
    cluster.node(allocatable={GPU: 0})
    with pytest.raises(ExpectationFailed, match=r"never without devices; over after 0.0 s"):
        expect_node.never("without devices", lambda node: not node.allocatable[GPU], lasting=3)


def test_a_node_that_is_not_there_is_told(expect_node: NodeExpectation) -> None:
    """It may come yet."""
    with pytest.raises(ExpectationFailed) as raised:
        expect_node.ready(within=1)
    assert raised.value.seen == "there is no such node"


@pytest.mark.parametrize("shown", [{}, {GPU: 0}])
def test_none_to_give_out_is_0_or_no_key(
    cluster: Cluster, expect_node: NodeExpectation, shown: dict[str, int]
) -> None:
    """It depends on what the node has had before."""
    cluster.node(allocatable=shown)
    expect_node.offers_no(GPU)
    cluster.node(allocatable={GPU: 1})
    with pytest.raises(ExpectationFailed, match=r"no nvidia.com/gpu allocatable; not within 1 s"):
        expect_node.offers_no(GPU, within=1)


def a_call(
    call: Method, answer: JsonValue = None, *, started: float = 0, ended: float | None = None
) -> Call:
    """Return a call that has ended well."""
    return Call(
        number=1,
        time=NOON,
        call=call,
        resource=GPU,
        started=started,
        ended=ended,
        request={},
        code="OK",
        answer=answer,
    )


def test_calls_are_counted_by_name(
    cluster: Cluster, expect_node: NodeExpectation, journal: list[Call]
) -> None:
    """The one that is awaited may come yet; one too many is told."""
    cluster.node()
    journal.append(a_call("Register"))
    cluster.clock.at(1, lambda: journal.append(a_call("Allocate")))
    expect_node.asked("Allocate", 1).asked("Allocate", 1, GPU).asked("Allocate", 0, "amd.com/gpu")
    with pytest.raises(ExpectationFailed) as raised:
        expect_node.asked("Allocate", 2)
    assert raised.value.seen == "1 call of Allocate"
    journal.append(a_call("Allocate"))
    with pytest.raises(ExpectationFailed) as raised:
        expect_node.asked("Allocate", 1)
    assert raised.value.seen == "2 calls of Allocate"


def test_the_order_of_two_calls_is_that_of_the_last_ones(
    cluster: Cluster, expect_node: NodeExpectation, journal: list[Call]
) -> None:
    """The earlier one had ended when the later one began."""
    cluster.node()
    journal.append(a_call("Allocate", started=1, ended=2))
    with pytest.raises(ExpectationFailed, match="GetPreferredAllocation was not called"):
        expect_node.asked_before("GetPreferredAllocation", "Allocate")
    journal.append(a_call("GetPreferredAllocation", started=3, ended=4))
    with pytest.raises(ExpectationFailed, match="was asked GetPreferredAllocation before Allocate"):
        expect_node.asked_before("GetPreferredAllocation", "Allocate")
    journal.append(a_call("Allocate", started=4, ended=5))
    expect_node.asked_before("GetPreferredAllocation", "Allocate")


@pytest.mark.parametrize("ended", [None, 3.5])
def test_a_call_that_goes_on_was_not_before(
    cluster: Cluster, expect_node: NodeExpectation, journal: list[Call], ended: float | None
) -> None:
    """It had begun when the later one began, and had not ended."""
    cluster.node()
    journal.append(a_call("GetPreferredAllocation", started=1, ended=ended))
    journal.append(a_call("Allocate", started=3, ended=4))
    with pytest.raises(ExpectationFailed, match="was asked GetPreferredAllocation before Allocate"):
        expect_node.asked_before("GetPreferredAllocation", "Allocate")


def test_the_order_of_two_calls_is_that_of_one_resource(
    cluster: Cluster, expect_node: NodeExpectation, journal: list[Call]
) -> None:
    """Where it is named, and only then."""
    cluster.node()
    journal.append(a_call("GetPreferredAllocation", started=1, ended=2))
    journal.append(a_call("Allocate", started=3, ended=4))
    journal.append(replace(a_call("GetPreferredAllocation", started=5, ended=6), resource="a/b"))
    expect_node.asked_before("GetPreferredAllocation", "Allocate", GPU)
    with pytest.raises(ExpectationFailed):
        expect_node.asked_before("GetPreferredAllocation", "Allocate")
    with pytest.raises(ExpectationFailed, match="Allocate was not called"):
        expect_node.asked_before("GetPreferredAllocation", "Allocate", "a/b")


def test_a_plugin_that_does_not_answer_is_waited_for(
    cluster: Cluster, expect_node: NodeExpectation, journal: list[Call]
) -> None:
    """It restarts, and its journal begins anew; what it was that went wrong is told."""
    cluster.node()

    def recorded(call: str, resource: str) -> list[Call]:
        del call, resource
        if cluster.clock.now() < 3:
            raise CheckFailed("the plugin does not answer", seen="connection refused")
        return journal

    journal.append(a_call("Allocate", {}, started=1, ended=1))
    restarting = replace(expect_node, recorded=recorded)
    with pytest.raises(ExpectationFailed) as raised:
        restarting.asked("Allocate", 1, within=1)
    assert raised.value.seen == "the plugin does not answer: connection refused"
    with pytest.raises(ExpectationFailed):
        restarting.asked_before("Allocate", "Allocate", within=0.5)
    with pytest.raises(ExpectationFailed):
        restarting.answered("Allocate", "", within=0.5)
    restarting.asked("Allocate", 1).asked_before("Allocate", "Allocate").answered("Allocate", "")
    assert cluster.clock.now() == pytest.approx(3)


def test_no_call_has_no_answer(
    cluster: Cluster, expect_node: NodeExpectation, journal: list[Call]
) -> None:
    """Not even an empty one; where there is a call, its answer may be in any script."""
    cluster.node()
    with pytest.raises(ExpectationFailed, match="Allocate: was not called"):
        expect_node.answered("Allocate", "")
    journal.append(a_call("Allocate", {"envs": {"NAME": "昇腾"}}))
    expect_node.answered("Allocate", "昇腾")
    with pytest.raises(ExpectationFailed) as raised:
        expect_node.answered("Allocate", "GPU-1")
    assert raised.value.seen == 'Allocate: {"envs": {"NAME": "昇腾"}}'


def test_the_last_answer_counts(
    cluster: Cluster, expect_node: NodeExpectation, journal: list[Call]
) -> None:
    """Any field of it."""
    cluster.node()
    with pytest.raises(ExpectationFailed, match="Allocate: was not called"):
        expect_node.answered("Allocate", "GPU-1")
    journal += [a_call("Allocate", {"cdi_devices": [name]}) for name in ("GPU-1", "GPU-2")]
    expect_node.answered("Allocate", "GPU-2")
    with pytest.raises(ExpectationFailed) as raised:
        expect_node.answered("Allocate", "GPU-1")
    assert raised.value.seen == 'Allocate: {"cdi_devices": ["GPU-2"]}'
