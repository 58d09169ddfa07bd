"""The plugin of a node, which is found again whatever pod it is in."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from fake_plugin.plan import Plan, Share
from lab.cluster.client import Client
from lab.cluster.plugin.node_plugin import NodePlugin
from lab.cluster.record import LabFolder, Record
from lab.core.errors import CheckFailed, UsageError
from lab.core.fleet import Fleet, dump_fleet
from lab.install.backend import Backend
from lab.install.seats import Seat, node_plugin, seats
from lab.install.site import Site
from lab.install.status import RunningLab
from tests.unit.stand_ins.api_server import GPU, FakeApi, Json, pod
from tests.unit.stand_ins.plugin import TOKEN, Plugin

WORKER = "t-lab-worker"


@pytest.fixture
def lab(site: Site, client: Client) -> RunningLab:
    """Return a lab with the chapter's fleet."""
    folder = LabFolder.of(site.folders, "t-lab")
    record = Record("t-lab", "kind", "ready", "node:v1")
    folder.write(record)
    folder.fleet.write_text(dump_fleet(Fleet.default().placed_on((WORKER,))))
    folder.write_text(folder.token, TOKEN)
    return RunningLab(record, folder, client, Mock(spec=Backend))


@pytest.fixture
def seat(lab: RunningLab) -> Seat:
    """Return the one node of its fleet."""
    (found,) = seats(lab)
    return found


@pytest.fixture
def on_worker(lab: RunningLab, seat: Seat) -> NodePlugin:
    """Return the plugin of the worker, in whatever pod it may be."""
    return node_plugin(lab, seat)


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    """Return the plugin itself."""
    share = Share("chapter", "chapter-0", 2, resource=GPU)
    return Plugin(WORKER, Plan((share,)), tmp_path / "node")


def serve(api: FakeApi, plugin: Plugin, *pods: Json) -> None:
    """Have the plugin answer in the last of these pods, which are all there are."""
    api.pods = [*pods]
    api.listening = {f"{pods[-1]['metadata']['name']}:9441": plugin.answer}


def leaving(name: str) -> Json:
    """Return a pod that is being deleted, and is ready as long as it is there."""
    found = pod(name, WORKER)
    found["metadata"]["deletionTimestamp"] = "2026-12-02T09:00:00Z"
    return found


def test_a_node_has_two_names(lab: RunningLab, seat: Seat) -> None:
    """The fleet's and the cluster's."""
    assert seats(lab, ["chapter-0"]) == seats(lab, [WORKER]) == (seat,)
    assert seat.title == f"chapter-0 ({WORKER})"
    with pytest.raises(UsageError, match="the fleet has no node 'worker'"):
        seats(lab, ["worker"])


def test_a_lab_without_a_fleet_has_no_seats(lab: RunningLab) -> None:
    """Its making has ended too early; that is told, and what makes up for it."""
    lab.folder.fleet.unlink()
    with pytest.raises(CheckFailed) as raised:
        seats(lab)
    assert str(raised.value) == (
        "no fleet was deployed to the lab yet\n"
        f"  where: {lab.folder.path}\n"
        "  next:  bring it up\n"
        "         $ gpulab up --name t-lab"
    )


def test_a_plugin_that_was_replaced_is_found_again(
    on_worker: NodePlugin, api: FakeApi, plugin: Plugin
) -> None:
    """Its pod has another name after a restart."""
    serve(api, plugin, pod("plugin-1", WORKER))
    assert on_worker.break_device("0").count == 1
    serve(api, plugin, pod("plugin-2", WORKER))
    assert len(on_worker.overview().broken) == 1


@pytest.mark.parametrize(
    "other",
    [
        pod("other", WORKER, waiting={"reason": "CrashLoopBackOff"}),
        pod("other", "t-lab-worker2"),
        leaving("other"),
    ],
)
def test_of_several_pods_the_one_that_serves_is_asked(
    on_worker: NodePlugin, api: FakeApi, plugin: Plugin, other: Json
) -> None:
    """One on its way in or out may still be there, and every node has one."""
    serve(api, plugin, other, pod("plugin-2", WORKER))
    assert on_worker.overview().ready


def test_a_node_without_a_plugin_is_told(on_worker: NodePlugin) -> None:
    """At the call: it may have one at the next."""
    with pytest.raises(CheckFailed, match="no device plugin runs on the node") as raised:
        on_worker.clear()
    assert raised.value.where == f"chapter-0 ({WORKER})"


def test_a_lab_without_a_token_is_told(lab: RunningLab, seat: Seat) -> None:
    """Before anything is asked."""
    lab.folder.token.unlink()
    with pytest.raises(CheckFailed, match="the lab has no token for its plugins"):
        node_plugin(lab, seat)
