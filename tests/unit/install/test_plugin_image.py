"""Whether the plugin image can be had, asked before a cluster is made for it."""

from pathlib import Path

import pytest

from lab.core.errors import NotReady
from lab.host.docker import Docker
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.images.plugin import PYTHON_IMAGE
from lab.install.plugin_image import require_source
from tests.unit.stand_ins.engine import FakeEngine

NOBODY = "http://127.0.0.1:1/v2/"


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this machine have no mmdebstrap."""
    monkeypatch.setattr("lab.images.plugin.image.has_mmdebstrap", lambda: False)


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Return the folders of a lab that has built nothing yet."""
    return Folders(tmp_path / "state", tmp_path / "cache")


@pytest.mark.usefixtures("bare")
def test_without_any_source_it_says_what_to_install(engine: FakeEngine, folders: Folders) -> None:
    """No mmdebstrap and no registry: refused, with the command to paste."""
    engine.set(images={})
    with pytest.raises(NotReady, match="the plugin image cannot be built") as raised:
        require_source(Docker(Processes()), folders, registry=NOBODY)
    assert raised.value.commands[0].startswith("sudo apt-get install --yes mmdebstrap")


@pytest.mark.usefixtures("bare")
def test_a_python_image_that_is_at_hand_is_a_source(engine: FakeEngine, folders: Folders) -> None:
    """The engine builds on it, and asks no registry."""
    engine.set(images={PYTHON_IMAGE: {"Id": "sha256:1", "Size": 1, "Config": {}}})
    require_source(Docker(Processes()), folders, registry=NOBODY)


def test_mmdebstrap_is_a_source(
    engine: FakeEngine, folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debian packages make the image without a registry."""
    engine.set(images={})
    monkeypatch.setattr("lab.images.plugin.image.has_mmdebstrap", lambda: True)
    require_source(Docker(Processes()), folders, registry=NOBODY)
