"""The metrics of a plugin, as whoever tests something sees them."""

from pathlib import Path

import pytest

from fake_plugin.plan import Plan, Share
from lab.cluster.plugin.metrics import Sample, samples
from lab.cluster.plugin.node_plugin import NodePlugin
from lab.core.catalogue import catalogue
from lab.core.errors import CheckFailed
from tests.unit.stand_ins.api_server import FakeApi
from tests.unit.stand_ins.plugin import Plugin

#: An exporter's counter without `_total`, and a gauge with it; a time behind the value; an escape.
TEXT = rb"""# HELP DCGM_FI_DEV_PCIE_REPLAY_COUNTER Retries on PCIe.
# TYPE DCGM_FI_DEV_PCIE_REPLAY_COUNTER counter
DCGM_FI_DEV_PCIE_REPLAY_COUNTER{gpu="0"} 3
# HELP accel_errors_total Errors.
# TYPE accel_errors_total counter
accel_errors_total 1
# TYPE gpu_nodes_total gauge
gpu_nodes_total 8
# TYPE npu_chip_info_power gauge
npu_chip_info_power{id="0",model_name="a\"b"} 66.8 1764590400000
"""


def test_names_are_those_of_the_text() -> None:
    """Also where a client library would call a metric otherwise."""
    assert samples(TEXT) == (
        Sample("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", {"gpu": "0"}, 3),
        Sample("accel_errors_total", {}, 1),
        Sample("gpu_nodes_total", {}, 8),
        Sample("npu_chip_info_power", {"id": "0", "model_name": 'a"b'}, 66.8),
    )


def test_metrics_are_those_of_the_plugin(node_plugin: NodePlugin) -> None:
    """Each of its devices has a row."""
    found = [each for each in node_plugin.metrics() if each.name == "accel_healthy"]
    assert [(each.labels["index"], each.value) for each in found] == [("0", 1), ("1", 1)]


def test_both_lists_of_nvidias_exporter_are_there(
    node_plugin: NodePlugin, api: FakeApi, tmp_path: Path
) -> None:
    """Once each: a field of both is as with the exporter's own."""
    model = catalogue()["nvidia-h100-sxm-80gb"].accelerator()
    plan = Plan((Share("nvidia", "nvidia-0", 1, accelerator=model),))
    api.listening["plugin-1:9441"] = Plugin("t-lab-worker", plan, tmp_path / "gpus").answer
    names = [each.name for each in node_plugin.metrics()]
    fields = ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_DEV_GPU_TEMP")
    assert [names.count(each) for each in fields] == [1, 1, 1]


def test_what_is_no_metric_is_told(node_plugin: NodePlugin, api: FakeApi) -> None:
    """Something else may listen there."""
    api.listening["plugin-1:9441"] = lambda *_: (200, b"<html>")
    with pytest.raises(CheckFailed) as caught:
        node_plugin.metrics()
    assert caught.value.where == "GET /metrics of pod plugin-1"
    assert caught.value.what == "the plugin's answer is not what this gpulab expects"
    assert caught.value.seen
