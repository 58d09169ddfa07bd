"""`gpulab image build-node`, as it is typed."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from lab.cli.main import COMMANDS, gpulab
from lab.core.exit_codes import ExitCode
from lab.images import node
from lab.images.node import NodeImage

BUILT = NodeImage("gpu-lab/node:v1-abc", 718_000_000, "v1.36.3", Path("/cache/abc.json"))


@pytest.fixture(autouse=True)
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the image be there already."""
    monkeypatch.setattr(node, "build_node_image", lambda *_: BUILT)


def test_people_get_a_name_and_the_next_command() -> None:
    """What was built, how large it is, and how to go on."""
    result = CliRunner().invoke(gpulab, ["image", "build-node"])
    assert result.exit_code == ExitCode.DONE
    assert result.stdout == (
        "gpu-lab/node:v1-abc  718 MB, Kubernetes v1.36.3\n"
        "what went into it: /cache/abc.json\n"
        "\n"
        "Next:\n"
        "  gpulab up\n"
    )


def test_tools_get_json() -> None:
    """The same for a program."""
    result = CliRunner().invoke(gpulab, ["image", "build-node", "--output", "json"])
    assert json.loads(result.stdout) == {
        "reference": "gpu-lab/node:v1-abc",
        "bytes": 718_000_000,
        "kubernetes": "v1.36.3",
        "manifest": "/cache/abc.json",
    }


def test_help_agrees_with_the_table() -> None:
    """The list of commands repeats a line that stands here."""
    result = CliRunner().invoke(gpulab, ["image", "--help"])
    assert COMMANDS["image"][1] in result.stdout


def test_help_names_what_it_takes() -> None:
    """Nobody starts such a build without knowing."""
    result = CliRunner().invoke(gpulab, ["image", "build-node", "--help"])
    assert "about 25 minutes on 2 cores" in result.stdout
