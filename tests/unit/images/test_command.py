"""`gpulab image`, as it is typed."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from lab.cli.main import COMMANDS, gpulab
from lab.core.exit_codes import ExitCode
from lab.images import node, operator, plugin
from lab.images.node import NodeImage
from lab.images.operator import OperatorBuild
from lab.images.operator.chart import ChartImage
from lab.images.plugin import PluginImage

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


@pytest.fixture
def plugin_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the plugin's image be there already."""
    image = PluginImage("localhost/plugin:abc", Path("/my cache/image.tar"), 74_000_000)
    monkeypatch.setattr(plugin, "build_plugin_image", lambda *_: image)


@pytest.mark.usefixtures("plugin_built")
def test_people_are_told_how_the_plugins_image_gets_into_a_registry() -> None:
    """For a cluster of their own, which pulls it from there."""
    result = CliRunner().invoke(gpulab, ["image", "build-plugin"])
    assert result.stdout == (
        "localhost/plugin:abc  74 MB\n"
        "\n"
        "Next, with a place in your registry for REF:\n"
        "  docker load --input '/my cache/image.tar'\n"
        "  docker tag localhost/plugin:abc REF\n"
        "  docker push REF\n"
        "  gpulab up --kubeconfig FILE --plugin-image REF\n"
    )


@pytest.mark.usefixtures("plugin_built")
def test_tools_are_told_where_the_plugins_image_is() -> None:
    """As an archive, which needs no engine."""
    result = CliRunner().invoke(gpulab, ["image", "build-plugin", "--output", "json"])
    assert json.loads(result.stdout) == {
        "reference": "localhost/plugin:abc",
        "bytes": 74_000_000,
        "archive": "/my cache/image.tar",
    }


@pytest.fixture
def operator_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the operator be there already."""
    images = (ChartImage("nfd", "example.com/nfd", "v0.17.3"),)
    cache = Path("/my cache")
    built = OperatorBuild("v25.3.4", cache / "helm", cache / "chart", cache / "images.tar", images)
    monkeypatch.setattr(operator, "build_operator", lambda *_: built)


@pytest.mark.usefixtures("operator_built")
def test_people_are_told_how_the_operator_gets_into_a_lab() -> None:
    """Its images into the nodes, and then its chart by the helm that was built with it."""
    result = CliRunner().invoke(gpulab, ["image", "build-operator"])
    assert result.stdout == (
        "GPU operator v25.3.4, its chart in /my cache/chart\n"
        "\n"
        "Next, for each node of a lab, and then once:\n"
        "  docker exec -i NODE ctr --namespace k8s.io images import - < '/my cache/images.tar'\n"
        "  '/my cache/helm' install gpu-operator '/my cache/chart' --namespace gpu-operator "
        "--create-namespace \\\n"
        "    --set nfd.enabled=false --set driver.enabled=false --set toolkit.enabled=false\n"
    )


@pytest.mark.usefixtures("operator_built")
def test_tools_are_told_which_images_the_operators_chart_asks_for() -> None:
    """Beside where everything is."""
    result = CliRunner().invoke(gpulab, ["image", "build-operator", "--output", "json"])
    assert json.loads(result.stdout) == {
        "release": "v25.3.4",
        "helm": "/my cache/helm",
        "chart": "/my cache/chart",
        "archive": "/my cache/images.tar",
        "images": {"nfd": "example.com/nfd:v0.17.3"},
    }


def test_help_agrees_with_the_table() -> None:
    """The list of commands repeats a line that stands here."""
    result = CliRunner().invoke(gpulab, ["image", "--help"])
    assert COMMANDS["image"][1] in result.stdout


def test_help_names_what_it_takes() -> None:
    """Nobody starts such a build without knowing."""
    for command, time in (
        ("build-node", node.ESTIMATED_TIME),
        ("build-operator", operator.ESTIMATED_TIME),
    ):
        result = CliRunner().invoke(gpulab, ["image", command, "--help"])
        assert time in " ".join(result.stdout.split())
