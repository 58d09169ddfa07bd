"""Whether the plugin image can be had, known before a cluster is made for it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.core.errors import NotReady
from lab.images.plugin import PYTHON_IMAGE
from lab.install.plugin_image import require_source
from lab.install.site import Site
from tests.unit.stand_ins.engine import FakeEngine

NOBODY = "http://127.0.0.1:1/v2/"


@pytest.fixture
def require(site: Site, engine: FakeEngine) -> Callable[[str], None]:
    """Return the check, on a machine that has neither mmdebstrap nor an image."""
    engine.set(images={})
    return lambda registry: require_source(site.docker, site.folders, registry=registry)


def test_without_any_source_the_way_out_is_named(require: Callable[[str], None]) -> None:
    """What to install or to load."""
    with pytest.raises(NotReady, match="the plugin image cannot be built") as raised:
        require(NOBODY)
    assert raised.value.where == NOBODY
    assert PYTHON_IMAGE in raised.value.remedy
    assert raised.value.commands == (
        "sudo apt-get install --yes mmdebstrap debian-archive-keyring",
    )


def test_mmdebstrap_is_a_source(
    require: Callable[[str], None], put_on_path: Callable[[str, str], Path]
) -> None:
    """It needs no registry."""
    put_on_path("mmdebstrap", "exit 0")
    require(NOBODY)


def test_image_with_a_python_is_a_source(
    require: Callable[[str], None], engine: FakeEngine
) -> None:
    """Someone has loaded it."""
    engine.set(images={PYTHON_IMAGE: {"Id": "sha256:1", "Size": 1, "Config": {}}})
    require(NOBODY)


def test_engine_that_was_measured_is_not_asked_again(
    site: Site, engine: FakeEngine, registry: str
) -> None:
    """Its answer takes a while, and the caller may have it."""
    known = site.docker.engine()
    engine.set(images={}, calls=[])
    require_source(site.docker, site.folders, engine=known, registry=registry)
    assert engine.calls("info") == []


def test_registry_is_a_source(require: Callable[[str], None], registry: str) -> None:
    """The image is pulled when it is built."""
    require(registry)
