"""The page of all scenarios: `python -m lab.harness.reference.scenarios` prints it.

`docs/reference/scenarios.md` is its committed output.
"""

import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from lab.harness.collection import scenarios
from lab.harness.reference.spelling import in_cell
from lab.harness.scenario import Scenario

_INTRODUCTION: Final = (
    "# Scenarios\n\n"
    "What clusters do with devices, one thing at a time, by the sections of the chapter. "
    "[`gpulab run NAME`](commands.md#gpulab-run) runs one on a lab; `--section` and `--tag` choose "
    "several. The name leads to its file, which says why it is so, and has the explanation in "
    "Chinese.\n\n"
    "They hold on every cluster that has, or lets be done to its nodes, what is under *needs*: of "
    "`kind` that is all, of [a cluster that is there](../how-to/use-your-own-cluster.md) what its "
    "nodes allow. On others they are skipped with the reason. *slow* is one that waits for "
    "minutes, by a rule of Kubernetes; *erratum* has the number in the list of what the chapter "
    "has wrong.\n\n"
    "This page is made from the scenarios by `python -m lab.harness.reference.scenarios`.\n"
)
_HEAD: Final = "| scenario | what it shows | 说明 | fleet | tags | needs | |\n" + "|---" * 7 + "|"
_FOLDER: Final = "../../scenarios"


def page() -> str:
    """Return the page as the published file holds it."""
    found = scenarios()
    parts = [f"{_INTRODUCTION}\nThere are {len(found)}.\n"]
    for section, members in groupby(found, key=lambda each: each.section):
        parts += _of_section(section, members)
    return "\n".join(parts)


def _of_section(section: str, members: Iterable[Scenario]) -> Iterator[str]:
    yield f"## {section}\n\n{_HEAD}"
    yield from map(_row, members)
    yield ""


def _row(each: Scenario) -> str:
    cells = (
        f"[`{each.name}`]({_FOLDER}/{each.name}.py)",
        each.title("en"),
        each.title("zh"),
        f"[`{each.fleet}`]({_FOLDER}/fleets/{each.fleet}.yaml)",
        _listed(each.tags),
        _listed(each.needs),
        ", ".join(_remarks(each)),
    )
    return f"| {' | '.join(map(in_cell, cells))} |"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _remarks(each: Scenario) -> Iterator[str]:
    if each.slow:
        yield "slow"
    if each.erratum:
        yield f"erratum {each.erratum}"


if __name__ == "__main__":
    sys.stdout.write(page())
