"""Containers, one for a test and one for a property's many examples."""

from pathlib import Path

import pytest

from tests.unit.fake_plugin.smi.container import Container


@pytest.fixture
def container(tmp_path: Path) -> Container:
    """Return a container on a node that has written no table yet."""
    return Container(tmp_path / "container")


@pytest.fixture(scope="session")
def lasting_container(tmp_path_factory: pytest.TempPathFactory) -> Container:
    """Return a container for all examples of a property."""
    return Container(tmp_path_factory.mktemp("smi") / "container")
