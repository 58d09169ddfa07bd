"""What a reader pastes from a page is a command that there is, about files that are there."""

import shlex
from collections.abc import Iterator
from typing import Final

import click
import pytest
import yaml

from lab.cli.main import gpulab
from lab.core.fleet import load_fleet
from tests.unit.docs.pages import ROOT, pages

#: Where a command ends for the shell.
ENDS: Final = ("|", "||", "&&", ";", ">", "2>", "&")


def pasted() -> Iterator[tuple[str, list[str]]]:
    """Yield the lines of all pages that call `gpulab`, with the page and the words behind."""
    for page in pages():
        for block in (*page.blocks("sh"), *page.blocks("shell")):
            for line in block.text.splitlines():
                if line.startswith("gpulab "):
                    words = shlex.split(line, comments=True)[1:]
                    ends = [at for at, word in enumerate(words) if word in ENDS]
                    yield page.name, words[: min(ends, default=len(words))]


def parameters() -> list[object]:
    """Return each as a parameter that is called by its page and its words."""
    return [pytest.param(words, id=f"{name}: {' '.join(words)}") for name, words in pasted()]


@pytest.mark.parametrize("words", parameters())
def test_commands_parse(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The command exists and takes these options; a file that has to be there is there."""
    monkeypatch.chdir(ROOT)
    command: click.Command | None = gpulab
    context = click.Context(gpulab, info_name="gpulab")
    name: str | None = "gpulab"
    while isinstance(command, click.Group):
        name, command, words = command.resolve_command(context, words)
        context = click.Context(command or gpulab, info_name=name, parent=context)
    assert command
    command.make_context(name, words)


def test_some_page_has_commands() -> None:
    """The test above would pass for want of them."""
    assert {"README.md", "README.zh-CN.md"} <= {name for name, _ in pasted()}


def test_the_pod_of_section_4_4_is_served_by_the_fleet_of_three_vendors() -> None:
    """It asks for one GPU, and runs what the plugin mounts."""
    pod = yaml.safe_load((ROOT / "examples/nvidia-smi.yaml").read_text(encoding="utf-8"))
    (container,) = pod["spec"]["containers"]
    assert container["command"] == ["nvidia-smi"]
    assert container["image"] == "busybox:1.36"
    (nvidia,) = load_fleet(ROOT / "fleets/three-vendors.yaml").pools[:1]
    assert nvidia.accelerator
    assert nvidia.accelerator.vendor == "nvidia"
    assert container["resources"]["limits"] == {"nvidia.com/gpu": 1}
