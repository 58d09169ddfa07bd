"""What is expected of a node's metrics."""

import pytest

from lab.cluster.connection import ApiFailed
from lab.cluster.plugin.metrics import Sample
from lab.core.errors import UsageError
from lab.harness.expectations.metrics import Comparison
from lab.harness.expectations.nodes import NodeExpectation
from lab.harness.failure import ExpectationFailed
from tests.unit.harness.cluster import Cluster

XID = "DCGM_FI_DEV_XID_ERRORS"


def of_gpu(index: int, value: float, name: str = XID, **labels: str) -> Sample:
    """Return what a GPU tells."""
    told = {"gpu": str(index), "UUID": f"GPU-{index}", "modelName": "NVIDIA H100"}
    return Sample(name, told | labels, value)


def test_a_value_is_waited_for(
    cluster: Cluster, expect_node: NodeExpectation, scraped: list[Sample]
) -> None:
    """Of the series with the labels; another series has it before."""
    cluster.node()
    scraped[:] = [of_gpu(0, 0), of_gpu(1, 79)]
    cluster.clock.at(2, lambda: scraped.__setitem__(0, of_gpu(0, 79)))
    expect_node.metric(XID, 79)
    assert cluster.clock.now() == 0
    expect_node.metric(XID, 79, gpu=0)
    assert cluster.clock.now() == 2


def test_the_report_tells_the_value(
    cluster: Cluster, expect_node: NodeExpectation, scraped: list[Sample]
) -> None:
    """And what was awaited, as Prometheus would be asked for it."""
    cluster.node()
    scraped[:] = [of_gpu(0, 0), of_gpu(1, 79)]
    with pytest.raises(ExpectationFailed) as raised:
        expect_node.metric(XID, 79, gpu="0", within=5)
    assert str(raised.value) == (
        'node nvidia-0 (w): expected: DCGM_FI_DEV_XID_ERRORS{gpu="0"} == 79; not within 5 s\n'
        "  where: node nvidia-0 (w)\n"
        '  seen:  DCGM_FI_DEV_XID_ERRORS{gpu="0"} 0\n'
        "  next:  look at what is there\n"
        "         $ kubectl --kubeconfig '/my lab/kubeconfig' describe node w\n"
        "         $ gpulab status --name t"
    )


def test_series_are_told_apart_by_few_labels(
    cluster: Cluster, expect_node: NodeExpectation, scraped: list[Sample]
) -> None:
    """The first ones that do, and some of the series."""
    cluster.node()
    scraped[:] = [of_gpu(index, index / 2) for index in range(6)]
    with pytest.raises(ExpectationFailed) as raised:
        expect_node.metric(XID, "> 3", modelName="NVIDIA H100", within=1)
    assert raised.value.awaited == 'DCGM_FI_DEV_XID_ERRORS{modelName="NVIDIA H100"} > 3'
    assert raised.value.seen == (
        'DCGM_FI_DEV_XID_ERRORS{modelName="NVIDIA H100", gpu="0"} 0\n'
        'DCGM_FI_DEV_XID_ERRORS{modelName="NVIDIA H100", gpu="1"} 0.5\n'
        'DCGM_FI_DEV_XID_ERRORS{modelName="NVIDIA H100", gpu="2"} 1\n'
        'DCGM_FI_DEV_XID_ERRORS{modelName="NVIDIA H100", gpu="3"} 1.5\n'
        "and 2 more"
    )


@pytest.mark.parametrize(
    ("series", "seen"),
    [
        ((XID, {"gpu": "9"}), f'other series only:\n{XID}{{gpu="0"}} 0\n{XID}{{gpu="1"}} 0'),
        (("DCGM_FI_DEV_XID", {}), f"none of its 2 metrics has that name; the nearest: {XID}"),
        (("x", {}), "none of its 2 metrics has that name"),
    ],
)
def test_a_series_that_is_not_there_is_told(
    cluster: Cluster,
    expect_node: NodeExpectation,
    scraped: list[Sample],
    series: tuple[str, dict[str, str]],
    seen: str,
) -> None:
    """With what is there in its place."""
    cluster.node()
    scraped[:] = [of_gpu(0, 0), of_gpu(1, 0), Sample("accel_healthy", {}, 1)]
    name, labels = series
    with pytest.raises(ExpectationFailed) as raised:
        expect_node.metric(name, within=1, **labels)
    assert raised.value.seen == seen


def test_an_empty_label_is_one_that_is_not_there(
    cluster: Cluster, expect_node: NodeExpectation, scraped: list[Sample]
) -> None:
    """As in Prometheus; so a GPU is found that no pod has."""
    cluster.node()
    scraped[:] = [of_gpu(0, 0, pod="training")]
    expect_node.no_metric(XID, pod="").metric(XID, pod="training")
    scraped[:] = [of_gpu(0, 0)]
    expect_node.metric(XID, pod="")


def test_a_metric_that_goes_is_waited_for(
    cluster: Cluster, expect_node: NodeExpectation, scraped: list[Sample]
) -> None:
    """What is still there is told."""
    cluster.node()
    scraped[:] = [of_gpu(0, 40, "DCGM_FI_DEV_GPU_TEMP"), of_gpu(1, 41, "DCGM_FI_DEV_GPU_TEMP")]
    cluster.clock.at(2, lambda: scraped.__delitem__(0))
    expect_node.no_metric("DCGM_FI_DEV_GPU_TEMP", gpu="0")
    with pytest.raises(ExpectationFailed) as raised:
        expect_node.no_metric("DCGM_FI_DEV_GPU_TEMP", within=1)
    assert raised.value.awaited == "no metric DCGM_FI_DEV_GPU_TEMP"
    assert raised.value.seen == "DCGM_FI_DEV_GPU_TEMP 41"


def test_a_plugin_that_restarts_is_waited_for(
    cluster: Cluster, expect_node: NodeExpectation
) -> None:
    """It is there again later, as for Prometheus; why it is not is told."""

    def away() -> list[Sample]:
        if cluster.clock.now() < 2:
            raise ApiFailed("the plugin does not answer", seen="connection refused")
        return [of_gpu(0, 0)]

    cluster.node()
    expect = NodeExpectation(**{**vars(expect_node), "scraped": away})
    with pytest.raises(ExpectationFailed) as raised:
        expect.metric(XID, 0, within=1)
    assert raised.value.seen == "the plugin does not answer: connection refused"
    expect.metric(XID, 0)


@pytest.mark.parametrize(
    ("said", "value", "holds"),
    [
        (0.5, 0.5, True),
        ("0.5", 0.5, True),
        ("== 79", 78, False),
        ("!= 79", 78, True),
        ("> 0", 0, False),
        (">=0", 0, True),
        ("< 1e3", 999, True),
        ("<= -1", 0, False),
    ],
)
def test_values_compare_as_in_promql(said: float | str, value: float, *, holds: bool) -> None:
    """With its six signs, and by equality without one."""
    assert Comparison.of(said).holds(value) is holds


@pytest.mark.parametrize("said", ["", "=79", "> many", "=~ 7.", "> 1 2"])
def test_what_compares_with_nothing_is_refused(expect_node: NodeExpectation, said: str) -> None:
    """At once, and with what would do."""
    with pytest.raises(UsageError) as raised:
        expect_node.metric(XID, said)
    assert raised.value.render() == (
        f"{said!r} compares with nothing: a value is a number, or one with a sign\n"
        "  seen:  signs: ==, !=, >, >=, <, <=\n"
        "  next:  write it as in PromQL, such as 79, '> 0' or '<= 0.5'"
    )
