"""The page about the device manager says what it does."""

import subprocess
import sys
from dataclasses import fields

import pytest

from lab.embedded.kubelet.node import Settings
from lab.embedded.profile import PROFILES
from tests.unit.docs.pages import ROOT, page

PAGE = page("docs/reference/device-manager.md")


def test_the_example_runs() -> None:
    """As it stands, without a cluster, and within seconds."""
    (block,) = PAGE.blocks("python")
    command = [sys.executable, "-W", "error::DeprecationWarning", "-c", block.text]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_every_setting_is_described() -> None:
    """In the order in which they are."""
    named = [row[0].strip("`") for row in PAGE.section("Settings").rows()]
    assert named == [each.name for each in fields(Settings)]


@pytest.mark.parametrize("version", PROFILES)
def test_every_version_has_a_column(version: str) -> None:
    """Of the table of what differs."""
    text = PAGE.section("What differs between versions").text
    assert version in next(line for line in text.splitlines() if line.startswith("|"))
