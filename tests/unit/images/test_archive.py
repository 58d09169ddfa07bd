"""Archives as engines read them."""

import hashlib
import json
import platform
import tarfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lab.core.errors import NotReady
from lab.images.architecture import image_architecture
from lab.images.archive import ImageContent, write_archive
from lab.images.layer import Layer, new_layer
from tests.unit.images.machine import Tar


@pytest.fixture
def layer(tmp_path: Path) -> Callable[[str], Layer]:
    """Return what writes a layer with one file."""

    def write(text: str) -> Layer:
        tar = tmp_path / f"{text}.tar"
        with new_layer(tar) as writer:
            writer.text("file", text)
        return Layer.of(tar)

    return write


def config_of(image: ImageContent) -> dict[str, Any]:
    """Return the configuration of an image."""
    found: dict[str, Any] = json.loads(image.config())
    return found


def test_archive_names_its_images(layer: Callable[[str], Layer], tmp_path: Path) -> None:
    """Each image has its names, its configuration and its layers from the bottom up."""
    below, above = layer("below"), layer("above")
    write_archive(tmp_path / "a.tar", [ImageContent(("x/y:1", "x/z:1"), (below, above))])
    archive = Tar.read(tmp_path / "a.tar")
    (image,) = json.loads(archive.text("manifest.json"))
    config = archive.text(image["Config"])
    assert archive.files[image["Layers"][0]] == below.tar.read_bytes()
    assert image["RepoTags"] == ["x/y:1", "x/z:1"]
    assert image["Config"] == f"{hashlib.sha256(config.encode()).hexdigest()}.json"
    assert json.loads(config)["rootfs"]["diff_ids"] == [
        f"sha256:{below.digest}",
        f"sha256:{above.digest}",
    ]


def test_shared_layers_are_written_once(layer: Callable[[str], Layer], tmp_path: Path) -> None:
    """Images that stand on the same layer share it."""
    below = layer("below")
    images = [ImageContent((f"x:{each}",), (below, layer(each))) for each in ("one", "two")]
    write_archive(tmp_path / "a.tar", images)
    with tarfile.open(tmp_path / "a.tar") as archive:
        assert len([each for each in archive.getnames() if each.endswith("layer.tar")]) == 3


def test_config_tells_how_to_start(layer: Callable[[str], Layer]) -> None:
    """What a container starts with is as it was asked for."""
    image = ImageContent(
        ("x:1",), (layer("one"),), ("/init",), {"container": "docker"}, {"key": "value"}, "SIGTERM"
    )
    config = config_of(image)["config"]
    assert config["Entrypoint"] == ["/init"]
    assert config["Env"][0].startswith("PATH=/usr/local/sbin:")
    assert config["Env"][1:] == ["container=docker"]
    assert config["Labels"] == {"key": "value"}
    assert config["StopSignal"] == "SIGTERM"


def test_config_leaves_out_what_was_not_asked_for() -> None:
    """An image without a start of its own leaves that to the pod."""
    assert set(config_of(ImageContent(("x:1",), ()))["config"]) == {"Env", "Labels"}


def test_time_is_fixed_unless_given() -> None:
    """The same content is the same image, except where people want to see an age."""
    assert config_of(ImageContent(("x:1",), ()))["created"] == "1970-01-01T00:00:00+00:00"
    dated = ImageContent(("x:1",), (), created=datetime(2026, 5, 1, tzinfo=UTC))
    assert config_of(dated)["created"] == "2026-05-01T00:00:00+00:00"


def test_other_architectures_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody has tried is not offered."""
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(NotReady, match="this machine is riscv64"):
        image_architecture()
