"""The page of what tests are written with: `python -m lab.harness.reference.handle` prints it.

`docs/reference/harness.md` is its committed output.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, Final

import pytest

from lab.cluster.objects import Pod
from lab.cluster.plugin.faults import Effect
from lab.cluster.plugin.health import Reason
from lab.harness import workloads
from lab.harness.expectations.nodes import NodeExpectation
from lab.harness.expectations.pods import PodExpectation
from lab.harness.expectations.replicas import ReplicasExpectation
from lab.harness.lab import Lab
from lab.harness.node import NodeHandle
from lab.harness.pytest_plugin import fixtures
from lab.harness.pytest_plugin.options import DOCTOR, OPTIONS
from lab.harness.pytest_plugin.wishes import MARKER
from lab.harness.reference.spelling import first_line, in_cell, spelled
from lab.harness.scenario import scenario
from lab.harness.submitting import Submitted

_INTRODUCTION: Final = (
    "# What tests are written with\n\n"
    "Every name of the harness, with what its own docstring says first. How they go together is "
    "in [test an operator](../how-to/test-an-operator.md), and how a run behaves in [the pytest "
    "plugin](pytest.md).\n\n"
    "This page is made from the code by `python -m lab.harness.reference.handle`.\n"
)
_IMPORT: Final = (
    "## To import\n\n"
    "```python\n"
    "from lab.harness import ExpectationFailed, Lab, NodeHandle, container, deployment, pod\n"
    "```\n"
)
_LAB: Final = (
    "The fixture `gpu_lab` gives one, and a scenario gets one. `lab.namespace` is the name of its "
    "namespace, `lab.fleet` the fleet with the nodes that it was placed on."
)
_NODE: Final = (
    "`lab.node(name)` gives one. What is done to a node is undone after the test. A device is its "
    "ID, or `POOL/INDEX`, as [`gpulab inject`](commands.md#break-and-mend) takes it.\n\n"
    "`break_device`, `mend`, `unplug`, `plug` and `add` raise `TimedOut` where the node does not "
    "come to show what the plugin has announced. They wait for no resource that the kubelet does "
    "not watch, as one that is stopped, nor for one whose list meets a fault, that flaps, or that "
    "another plugin serves, too. The same methods of `plugin` do not wait at all."
)
_EXPECT: Final = (
    "`lab.expect(pod)` and `lab.expect(node)` give these. Times are in seconds. A failure says "
    "what was awaited, how long, what was last seen, and what to type to look on."
)
_TITLES: Final[tuple[tuple[str, str, type], ...]] = (
    ("The lab", _LAB, Lab),
    ("A node", _NODE, NodeHandle),
    ("To expect of a pod", _EXPECT, PodExpectation),
    ("To expect of a node", "", NodeExpectation),
    ("To expect of a Deployment", "`lab.expect_replicas(workload)` gives it.", ReplicasExpectation),
)
_KEYWORDS: Final = (("Reason", "`break_device` and `flap`", Reason), ("Effect", "`fault`", Effect))
_MADE: Final = (workloads.pod, workloads.deployment, workloads.container)
_FIXTURES: Final = (fixtures.gpu_lab, fixtures.lab_namespace, fixtures.lab_kubeconfig)
_EXIT_CODES: Final[Mapping[pytest.ExitCode, str]] = {
    pytest.ExitCode.OK: "all tests passed, or were skipped, and nothing is left behind",
    pytest.ExitCode.TESTS_FAILED: "tests failed, or a lab could not be made, or not be taken down",
    pytest.ExitCode.INTERRUPTED: "interrupted",
    pytest.ExitCode.USAGE_ERROR: (
        "an option or a marker is wrong, another command uses the lab of `--lab-use`, or the "
        "evidence cannot be written"
    ),
}


def page() -> str:
    """Return the page as the published file holds it."""
    parts = [_INTRODUCTION, _IMPORT]
    for title, text, described in _TITLES:
        parts += [f"## {title}\n", *([f"{text}\n"] if text else []), *_table(_methods(described))]
    parts += ["## Keywords\n", *_keywords(), *_workloads(), *_values()]
    parts += [*_of_pytest(), *_exit_codes(), *_scenario()]
    return "\n".join(parts)


def _methods(described: type) -> Iterator[tuple[str, str]]:
    """Yield what a class has for its users, its own first and then that of its bases."""
    seen: set[str] = set()
    for each in described.__mro__[:-1]:
        for name, member in vars(each).items():
            if name.startswith("_") or name in seen:
                continue
            seen.add(name)
            if isinstance(member, property):
                yield name, first_line(member)
            elif inspect.isfunction(member):
                yield spelled(name, member), first_line(member)


def _table(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield "| | |\n|---|---|"
    yield from (f"| `{in_cell(name)}` | {in_cell(said)} |" for name, said in rows)
    yield ""


def _keywords() -> Iterator[str]:
    for name, taken, keys in _KEYWORDS:
        listed = ", ".join(f"`{each}`" for each in keys.__annotations__)
        yield f"- `{name}`, of {taken}: {listed}. {first_line(keys)}"
    yield ""


def _workloads() -> Iterator[str]:
    yield "## Workloads\n\nWhat they return is the API's own JSON, to be added to.\n"
    yield from _table((spelled(each.__name__, each), first_line(each)) for each in _MADE)


def _values() -> Iterator[str]:
    yield "## Values\n"
    for each in (Submitted, Pod):
        names = [field.name for field in fields(each)]
        properties = [name for name, member in vars(each).items() if isinstance(member, property)]
        listed = ", ".join(f"`{name}`" for name in (*names, *properties))
        yield f"- `{each.__name__}`: {first_line(each)} It has {listed}."
    yield ""


def _of_pytest() -> Iterator[str]:
    yield "## Fixtures\n"
    yield from _table((name, first_line(each)) for name, each in map(_fixture, _FIXTURES))
    marker, _, said = MARKER.partition(":")
    yield f"## Marker\n\n`@pytest.mark.{marker}`:{said} [More of it](pytest.md#the-marker).\n"
    yield "## Options\n\n| option | variable | default | |\n|---|---|---|---|"
    for each in OPTIONS:
        default = f"`{each.default}`" if each.default else ""
        yield f"| `{each.flag} {each.value}` | `{each.variable}` | {default} | {each.help} |"
    yield f"| `{DOCTOR}` |  |  | Checks the machine as `gpulab doctor` does, and runs no tests. |\n"


def _fixture(fixture: object) -> tuple[str, Callable[..., Any]]:
    function: Callable[..., Any] = inspect.unwrap(fixture)  # type: ignore[arg-type]
    return function.__name__, function


def _exit_codes() -> Iterator[str]:
    yield "## Exit codes\n"
    yield "Pytest's own; those of `gpulab` are [on its page](commands.md#exit-codes).\n"
    yield "| code | when |\n|---|---|"
    yield from (f"| {code.value} | {when} |" for code, when in _EXIT_CODES.items())
    yield ""


def _scenario() -> Iterator[str]:
    yield "## A scenario\n"
    yield "A function of a lab, in a file of its own: [those that there are](scenarios.md).\n"
    yield from _table([(f"@{spelled('scenario', scenario)}", first_line(scenario))])


if __name__ == "__main__":
    sys.stdout.write(page())
