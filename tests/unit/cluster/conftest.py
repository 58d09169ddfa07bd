"""An API server without a cluster behind it, and a plugin that its proxy reaches."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_plugin.plan import Plan, Share
from lab.cluster import reading
from lab.cluster.client import Client, connect
from lab.cluster.plugin.api import PluginApi
from lab.cluster.plugin.node_plugin import NodePlugin
from tests.unit.stand_ins.api_server import GPU, FakeApi, node, pod, serving
from tests.unit.stand_ins.kind_program import write_kubeconfig
from tests.unit.stand_ins.plugin import TOKEN, Plugin


@pytest.fixture
def api() -> Iterator[FakeApi]:
    """Serve a cluster of one control plane and one worker."""
    cluster = FakeApi()
    cluster.add(node("t-lab-control-plane"), node("t-lab-worker"))
    with serving(cluster):
        yield cluster


@pytest.fixture
def client(api: FakeApi, tmp_path: Path) -> Client:
    """Return the lab's connection to it."""
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, api.address)
    return connect(path, "t-lab", "kind")


@pytest.fixture
def plugin(api: FakeApi, tmp_path: Path) -> Plugin:
    """Return a plugin with two devices, which the proxy reaches."""
    plan = Plan((Share("chapter", "chapter-0", 2, resource=GPU),))
    plugin = Plugin("t-lab-worker", plan, tmp_path / "node")
    api.listening["plugin-1:9441"] = plugin.answer
    return plugin


@pytest.fixture
def node_plugin(client: Client, plugin: Plugin) -> NodePlugin:
    """Return what the lab sees of it."""
    del plugin
    found = reading.pod(pod("plugin-1", "t-lab-worker"))
    return NodePlugin(PluginApi(client, lambda: found, 9441, TOKEN, "t-lab"))
