"""The pages that learners type along with: their commands run, and print what the pages show.

A `sh` block is run by bash, from the root of the repository, as a reader would who has followed
the page so far. The `text` block right after it is what it must print. Ages, addresses and IDs
differ from run to run and are compared as such; a line `...` stands for any lines. A block that
only looks is repeated for a while: a reader looks again, too.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from tests.kind.machine import Lab, run, wait_until
from tests.unit.docs.pages import Block, blocks_of, page

#: The fixture has brought the lab up, its environment stands for the exports, and it takes it down.
SKIPPED: Final = re.compile(r"^(make lab-(up|down)\b|export ).*\n", re.MULTILINE)
LOOKS: Final = re.compile(
    r"kubectl (get|describe|logs|exec) |gpulab (status|logs|journal|inject list)"
    r"|docker exec \S+ (ls|cat|jq|journalctl) "
)
LOOK_SECONDS: Final = 30

#: What differs from run to run, and what it is called where two texts are compared.
VARYING: Final = {
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}": "<uuid>",
    r"gpulab-[0-9a-f]{8}-[0-9a-f]{8}\.sock": "<socket>",
    r"(fake-gpu-device-plugin|kube-proxy|coredns)(-[0-9a-f]{8,10})?-[a-z0-9]{5}\b": r"\1-<id>",
    r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)": "<time>",
    r"\b[A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d\b": "<time>",
    r"\b[IWE]\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ (\w+\.go):\d+\]": r"<time> \1]",
    r"(kubelet)\[\d+\]": r"\1[<pid>]",
    r"\b(\d+d)?(\d+h)?(\d+m)?\d+s\b|\b\d+m\b": "<age>",
    r"\b10\.\d+\.\d+\.\d+\b": "<address>",
    r"(?m)^ +\d+ \d\d:\d\d:\d\d\.\d+ +\d+\.\d ms": "<call>",
    r"\brule-\d+\b": "<rule>",
    r'("ms_since_start": )\d+': r"\1<number>",
    r"\bv1\.\d+\.\d+\b": "<version>",
    r"\b\d+Ki\b": "<size>",
    r"(cpu: +)\d+": r"\1<number>",
    # Kubernetes 1.37 no longer says it.
    r"no new claims to deallocate, ": "",
    r"[ \t]+": " ",
}


@dataclass(frozen=True)
class Round:
    """The blocks of a page in order, each with what the page shows below it, or None."""

    name: str
    steps: tuple[tuple[Block, str | None], ...]


def following(name: str, blocks: list[Block]) -> Round:
    """Pair each block to run with the block of text right after it."""
    pairs = pairwise([*blocks, Block("", "", 0)])
    return Round(
        name,
        tuple(
            (block, then.text if then.language == "text" else None)
            for block, then in pairs
            if block.language == "sh" and SKIPPED.sub("", block.text)
        ),
    )


def first_round() -> Round:
    """Return the round of the README: the one block under that heading."""
    readme = page("README.md")
    (block,) = blocks_of(readme.section("A first round").text)
    return following("README.md", [block])


ROUNDS: Final = (
    first_round(),
    following("walkthrough", page("docs/walkthrough.md").blocks()),
    following("break things", page("docs/how-to/break-things.md").blocks()),
)


def compared(text: str) -> str:
    """Return a text with all that differs from run to run replaced by its name."""
    for pattern, name in VARYING.items():
        text = re.sub(pattern, name, text)
    return "\n".join(line.strip() for line in text.strip().splitlines())


def shown(text: str) -> re.Pattern[str]:
    """Return what an output has to match, whole, for a page's text."""
    lines = (r"(.*\n)*?.*" if line == "..." else re.escape(line) for line in text.splitlines())
    return re.compile("\n".join(lines))


@dataclass(frozen=True)
class Reader:
    """Types what pages say, in a lab that need not have the name that the pages use."""

    lab: Lab

    def types(self, block: Block, *, check: bool = True) -> str:
        """Run a block, less the lines of `SKIPPED`; return what it prints, as `compared`."""
        script = SKIPPED.sub("", block.text).replace("gpu-lab-worker", self.lab.worker)
        environment = {
            **self.lab.machine.environment,
            "GPULAB_NAME": self.lab.name,
            "KUBECONFIG": str(self.lab.kubeconfig),
            "PATH": f"{self.lab.folder}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        command = ("bash", "-euo", "pipefail", "-c", script)
        ended = run(*command, env=environment, check=check)
        return compared(ended.stdout.replace(self.lab.name, "gpu-lab"))

    def sees(self, block: Block, text: str) -> None:
        """Run a block and compare; look again for a while where that changes nothing."""
        pattern, seen = shown(text), ""

        def matches() -> bool:
            nonlocal seen
            seen = self.types(block, check=not looks_only(block))
            return bool(pattern.fullmatch(seen))

        if looks_only(block):
            with suppress(AssertionError):
                wait_until(matches, "", LOOK_SECONDS)
        else:
            matches()
        assert pattern.fullmatch(seen), f"{block.text}\nshown:\n{text}\nseen:\n{seen}"


def looks_only(block: Block) -> bool:
    """Tell whether every command of a block changes nothing."""
    return all(LOOKS.match(line) for line in block.text.splitlines())


@pytest.fixture(autouse=True)
def _whole_again(lab: Lab) -> Iterator[None]:
    yield
    lab.wait_for_allocatable(2, 60)


@pytest.mark.usefixtures("pods")
@pytest.mark.parametrize("page_round", ROUNDS, ids=lambda each: each.name)
def test_the_commands_of_a_page_print_what_it_shows(page_round: Round, lab: Lab) -> None:
    """Block by block, in the order of the page."""
    lab.kubectl_program()
    reader = Reader(lab)
    assert page_round.steps
    for block, text in page_round.steps:
        if text is None:
            reader.types(block)
        else:
            reader.sees(block, compared(text))
