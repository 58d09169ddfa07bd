"""A project that has gpu-lab installed."""

from pathlib import Path

import pytest

from tests.unit.harness.pytest_plugin.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return a project without tests."""
    found = Project(tmp_path / "project", tmp_path / "labs", tmp_path / "state")
    for folder in (found.folder, found.labs):
        folder.mkdir()
    return found
