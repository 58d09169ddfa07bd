"""A page of releases on loopback, and folders for a search that leaves the machine alone."""

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lab.cluster.kind.release import Asset
from lab.host.folders import Folders

#: A release of kind as a shell script.
RELEASED = b"#!/bin/sh\necho kind v0.33.0 go1.26.0 linux/amd64\n"


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Return empty folders of the lab."""
    return Folders(state=tmp_path / "state", cache=tmp_path / "cache")


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Return the published program, as a file that `releases` serves with its checksum beside."""
    asset = Asset.of_this_machine("v0.33.0", "")
    program = Path(f"{tmp_path}/published{asset.address}")
    program.parent.mkdir(parents=True)
    program.write_bytes(RELEASED)
    digest = hashlib.sha256(RELEASED).hexdigest()
    Path(f"{program}.sha256sum").write_text(f"{digest}  {asset.name}\n")
    return program


@pytest.fixture
def releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve the published releases, and return their address."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    handler = partial(_Quiet, directory=f"{tmp_path}/published")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Keep the log out of the output of the tests."""
