"""The whole answer to GET /metrics, from a plan and a kubelet to the text."""

from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from fake_plugin.api.deviceplugin_pb2 import Empty
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.metrics.endpoint import Endpoint
from fake_plugin.metrics.style import Style
from fake_plugin.plan import Partitions, Plan, Share, Sharing
from fake_plugin.resources.inventory import Inventory
from fake_plugin.serving.journal import Journal, Record
from tests.unit.fake_plugin.metrics.fixtures import (
    ASCEND,
    CPX,
    H100,
    MI300X,
    NODE,
    NOW,
    SLICE,
    VNPU,
    Node,
    board,
)
from tests.unit.fake_plugin.metrics.lister import Lister

GPU = "nvidia.com/gpu"


def inventory(folder: Path, *shares: Share) -> Inventory:
    """Return a node with one GPU in four replicas, and two plain devices."""
    gpus = Share("gpus", "gpus-0", 1, accelerator=H100, sharing=Sharing("time-slicing", 4))
    plain = Share("chapter", "chapter-0", 2, resource="fake.example.com/device")
    return Inventory.load(folder, NODE, Plan(shares or (gpus, plain)))


def scraped(endpoint: Endpoint, name: str) -> list[Sample]:
    """Return the samples of one metric."""
    families = text_string_to_metric_families(endpoint.render().decode())
    return [s for family in families for s in family.samples if s.name == name]


def test_four_pods_on_four_replicas_draw_what_one_card_draws(
    tmp_path: Path, lister: Lister, socket: Path
) -> None:
    """From the kubelet's answer to the sum: physical quantities are there once."""
    node = inventory(tmp_path)
    devices = [device.id for device in node.resources[0].devices]
    lister.pods = {
        ("ml", f"pod-{at}"): {"main": {GPU: [device]}} for at, device in enumerate(devices)
    }
    endpoint = Endpoint(node, socket)
    (power,) = scraped(endpoint, "accel_power_watts")
    assert 0.72 * 0.88 + 0.12 <= power.value / 700 <= 0.8 * 0.88 + 0.12
    shares = scraped(endpoint, "accel_holder_share_ratio")
    assert [(each.labels["pod"], each.value) for each in shares] == [
        (f"pod-{at}", 0.25) for at in range(4)
    ]


CUT = {
    "mig": Share(
        "p", "p-0", 2, accelerator=H100, partitions=Partitions("mixed", {0: (SLICE.name,) * 7})
    ),
    "cpx": Share(
        "p", "p-0", 2, accelerator=MI300X, partitions=Partitions("mixed", {0: (CPX.name,) * 8})
    ),
    "vnpu": Share(
        "p", "p-0", 2, accelerator=ASCEND, partitions=Partitions("mixed", {0: (VNPU.name,) * 4})
    ),
    "hami": Share("p", "p-0", 2, accelerator=ASCEND, dialect="hami"),
    "percentage": Share("p", "p-0", 2, accelerator=H100, sharing=Sharing("percentage", 100)),
}


@pytest.mark.parametrize("share", CUT.values(), ids=CUT)
def test_two_idle_cards_are_two_cards_however_they_are_cut_or_shared(
    tmp_path: Path, share: Share
) -> None:
    """Each draws 12 % of its limit, once, and no two samples have the same labels."""
    endpoint = Endpoint(inventory(tmp_path, share))
    limit = (share.accelerator and share.accelerator.power_watts) or 0
    power = [each.value for each in scraped(endpoint, "accel_power_watts")]
    assert power == pytest.approx([0.12 * limit] * 2)
    families = text_string_to_metric_families(endpoint.render().decode())
    every = [(each.name, *each.labels.items()) for family in families for each in family.samples]
    assert len(every) == len(set(every))


def test_answer_is_whole_without_a_kubelet(tmp_path: Path, socket: Path) -> None:
    """It says that it does not know who holds what, and all else as ever."""
    endpoint = Endpoint(inventory(tmp_path), socket)
    assert [each.value for each in scraped(endpoint, "gpulab_plugin_pod_resources_up")] == [0]
    assert len(scraped(endpoint, "accel_healthy")) == 3
    assert len(scraped(endpoint, "DCGM_FI_DEV_POWER_USAGE")) == 1


def test_kubelet_that_answers_is_up(tmp_path: Path, lister: Lister, socket: Path) -> None:
    """Where no socket was given there is nothing to say about it."""
    del lister
    asked = Endpoint(inventory(tmp_path), socket)
    assert [each.value for each in scraped(asked, "gpulab_plugin_pod_resources_up")] == [1]
    assert scraped(Endpoint(inventory(tmp_path)), "gpulab_plugin_pod_resources_up") == []


def test_devices_are_counted_by_resource_and_health(tmp_path: Path) -> None:
    """As the kubelet is told of them: a broken card is four replicas less."""
    node = inventory(tmp_path)
    endpoint = Endpoint(node)
    node.board.break_units([node.resources[0].devices[0].unit], Breakage("xid", "74"))
    found = scraped(endpoint, "gpulab_plugin_devices")
    assert [(*each.labels.values(), each.value) for each in found] == [
        (GPU, "healthy", 0),
        (GPU, "unhealthy", 4),
        ("fake.example.com/device", "healthy", 2),
        ("fake.example.com/device", "unhealthy", 0),
    ]


def test_errors_are_counted_from_the_start_on(tmp_path: Path) -> None:
    """Also those between two scrapes."""
    node = inventory(tmp_path)
    endpoint = Endpoint(node)
    (unit,) = {device.unit for device in node.resources[0].devices}
    for _ in range(2):
        node.board.break_units([unit], Breakage("xid", "74"))
        node.board.mend_units([unit])
    found = scraped(endpoint, "accel_errors_total")
    assert [each.value for each in found if each.labels["kind"] == "xid"] == [2]


def test_calls_are_those_of_the_journal(tmp_path: Path) -> None:
    """With what they ended in; lists and faults beside them."""
    journal = Journal()
    with journal.recording(Record("Allocate", GPU, Empty())) as record:
        record.code, record.fault = "UNKNOWN", "rule-1"
    endpoint = Endpoint(inventory(tmp_path), journal=journal)
    (calls,) = scraped(endpoint, "gpulab_plugin_calls_total")
    assert (calls.labels, calls.value) == (
        {"call": "Allocate", "resource": GPU, "code": "UNKNOWN"},
        1,
    )
    assert [each.value for each in scraped(endpoint, "gpulab_plugin_faults_total")] == [1]
    assert scraped(endpoint, "gpulab_plugin_lists_sent_total") == []


def test_unplugged_card_is_gone(tmp_path: Path) -> None:
    """With all that it told."""
    node = inventory(tmp_path)
    endpoint = Endpoint(node)
    node.board.unplug([node.resources[0].devices[0].card.uid])
    assert scraped(endpoint, "DCGM_FI_DEV_POWER_USAGE") == []
    assert [s.labels["vendor"] for s in scraped(endpoint, "accel_healthy")] == ["generic"] * 2


def test_style_chooses_what_nvidias_exporter_prints(tmp_path: Path) -> None:
    """The list of fields, and the older spelling of the node."""
    endpoint = Endpoint(inventory(tmp_path))
    operator = endpoint.render(Style("operator", "Hostname")).decode()
    assert f'Hostname="{NODE}",DCGM_FI_DRIVER_VERSION="' in operator
    assert f'hostname="{NODE}"' in endpoint.render().decode()
    assert "DCGM_FI_PROF" not in endpoint.render().decode()


def test_energy_adds_up_over_scrapes(tmp_path: Path) -> None:
    """An idle card draws 84 W."""
    times = iter((NOW, NOW + 100))
    endpoint = Endpoint(inventory(tmp_path), clock=lambda: next(times))
    first, second = (scraped(endpoint, "accel_energy_joules_total")[0].value for _ in range(2))
    assert first == 0.0
    assert second == pytest.approx(8400.0)


def test_readings_can_be_had_without_the_text(tmp_path: Path) -> None:
    """For what tells of the hardware in another form."""
    found = Endpoint(inventory(tmp_path)).readings()
    assert [each.card.pool for each in found] == ["gpus", "chapter", "chapter"]


def test_empty_node_has_an_empty_answer(tmp_path: Path) -> None:
    """Nothing to tell is no error."""
    assert Endpoint(Node(board(tmp_path), [])).render().decode().splitlines()[2:] == [
        'gpulab_plugin_devices{resource="example.com/gpu",health="healthy"} 0',
        'gpulab_plugin_devices{resource="example.com/gpu",health="unhealthy"} 0',
    ]
