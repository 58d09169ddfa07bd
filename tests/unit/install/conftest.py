"""A machine for `up` and `down`: an engine, a kind and an API server that are the tests' own."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from lab.cluster.client import Client, connect
from lab.cluster.kind import cluster as cluster_module
from lab.cluster.record import LabFolder
from lab.core.progress import Progress
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.images.plugin import PYTHON_IMAGE, PluginImage
from lab.install.order import Order
from lab.install.site import Site
from lab.install.up import bring_up
from tests.unit.stand_ins.api_server import GPU, FakeApi, node, serving
from tests.unit.stand_ins.engine import KIND, FakeEngine
from tests.unit.stand_ins.kind_program import write_kubeconfig


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    """Serve a cluster whose worker gets two devices once the plugin is applied."""
    cluster = FakeApi(comes={GPU: "2"})
    cluster.add(node("t-lab-control-plane"), node("t-lab-worker"))
    with serving(cluster):
        monkeypatch.setenv("FAKE_API", cluster.address)
        yield cluster


@pytest.fixture
def client(api: FakeApi, tmp_path: Path) -> Client:
    """Return the lab's connection to it."""
    write_kubeconfig(tmp_path / "kubeconfig", api.address)
    return connect(tmp_path / "kubeconfig", "t-lab", "kind")


@pytest.fixture(params=[200, 401, 503])
def registry(request: pytest.FixtureRequest) -> Iterator[str]:
    """Serve a registry that answers with this code, and return its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(request.param)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
            """Keep the log out of the output of the tests."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v2/"
        server.shutdown()
        thread.join()


@pytest.fixture
def site(
    engine: FakeEngine,
    put_on_path: Callable[[str, str], Path],
    progress: Progress,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Site:
    """Return the means of a command: `kind` is on the PATH, and a node image is at hand."""
    put_on_path("kind", KIND)
    image = {"Id": "sha256:1", "Size": 1, "Config": {}}
    engine.set(images={"node:v1": image, PYTHON_IMAGE: image})
    monkeypatch.setattr(cluster_module, "_LATE_CONTAINERS_SECONDS", 0)
    archive = tmp_path / "plugin.tar"
    archive.write_bytes(b"image")
    built = PluginImage("plugin:1", archive, 5)
    for module in ("backend", "creation"):
        monkeypatch.setattr(f"lab.install.kind.{module}.build_plugin_image", lambda *_: built)
    return Site(Processes(), Folders(engine.labs, tmp_path / "cache"), progress)


@pytest.fixture
def folder(site: Site) -> LabFolder:
    """Return the folder of the lab."""
    return LabFolder.of(site.folders, "t-lab")


@pytest.fixture
def up(site: Site) -> Callable[[Order], None]:
    """Return `up`, each time as a command of its own."""
    return lambda order: bring_up(order, replace(site, processes=Processes()))
