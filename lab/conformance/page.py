"""The page about the checks: `python -m lab.conformance.page` prints it.

`docs/reference/conformance.md` is its committed output.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Final

from lab.conformance.check import Result, Rule, Verdict
from lab.conformance.contract import CHECKS, GROUPS
from lab.conformance.in_cluster.checks import IN_CLUSTER
from lab.conformance.limits import Limits
from lab.conformance.report import Report

_INTRODUCTION: Final = (
    "# The contract of a device plugin\n\n"
    "What [`gpulab conform`](commands.md#gpulab-conform) asks of a device plugin, in the "
    "order in which it asks. How to use it is on [a page of its "
    "own](../how-to/test-your-device-plugin.md); the kubelet that asks is [the lab's "
    "own](device-manager.md), which answers as Kubernetes 1.36 does.\n\n"
    "The plugin is started, and started anew when a check has ended it, or failed: what one "
    "check spoils does not fail the next. A check that needs another one is not applicable "
    "where that did not pass, and neither is one about what a plugin does not offer.\n\n"
    "A file under *read* is Kubernetes' own, in `pkg/kubelet/cm/devicemanager` where no "
    "folder is named; `#` with a number is an issue of the repository before it.\n\n"
    "This page is made from the checks by `python -m lab.conformance.page`.\n"
)
_LIMITS: Final = {
    "register": "to register: after its start, and after a restart of the kubelet (`--timeout`)",
    "first_list": "to list its devices, once it is registered",
    "call": "to answer a call; a kubelet waits for ever",
    "pre_start": "to answer PreStartContainer, which is the kubelet's own limit",
    "end": "to end after SIGTERM",
    "quiet": "are looked whether something happens that should not",
    "refusal": "is every Register refused, to see how often it comes",
    "comes_back": "are waited for a socket that was removed",
}
_IN_CLUSTER: Final = (
    "## In a cluster\n\n"
    "`gpulab conform --image` deploys the plugin into [a lab](commands.md#gpulab-up) as a "
    "DaemonSet on one node of the fleet, and checks what can be seen of it there, with a real "
    "kubelet. That a plugin is back is told by a pod that gets a device, not by the number that "
    "the node shows, which may be an old one; that it has all its devices again, by that number "
    "when the kubelet has had 15 seconds to report another. Its pods are removed in the end, and "
    "what a run that was killed has left before the next; the kubelet keeps the name of the "
    "resource, with 0 devices, until the node is made anew.\n"
)
_NOT_CHECKED: Final = (
    "## What is not checked\n\n"
    "- **Devices that break.** Nothing can make a device of a stranger's plugin unhealthy: "
    "that it is listed so, and well again later, is for the plugin's own tests.\n"
    "- **What containers find.** Whether a device file, a host path or a CDI device is there "
    "is seen when a container starts: with `--image`, in a lab, and not of a process.\n"
    "- **Plugins that are found.** The kubelet also watches `plugins_registry`, and "
    "Kubernetes' own library for plugins waits to be found there where the file `DEPRECATION` "
    "says so. Here the file is missing, and all plugins register.\n"
    "- **Several resources at once.** One is looked at; `--resource` says which.\n\n"
)
_UPSTREAM: Final = (
    "## Kubernetes' own plugins\n\n"
    "The sample device plugin of Kubernetes 1.36.3 fails no check; 8 of 36 are not applicable. "
    "It takes ten seconds to notice that the kubelet has restarted, and ends with an error when "
    "it is refused. The library under it leaves restarts and signals to its caller: a plugin "
    "that only starts and registers fails `kubelet-restart` and `socket-gone`, and with 100 000 "
    "devices `list-size`.\n\n"
)
_JSON: Final = (
    "## As JSON\n\n"
    "`gpulab conform --output json` is a contract: keys are added, never removed or given "
    "another meaning. `verdict` is `passed`, `failed`, `not-applicable`, or `undecided` where "
    "something was in the way that is not the plugin's; `seen` is what was "
    "seen of the plugin, or why nothing was looked for. `problem` is why the rest is undecided, or "
    "what was left behind, and mostly empty. `resources` are all that the plugin "
    "registered, `resource` is the one that was tried. More checks may come.\n\n"
)


def page() -> str:
    """Return the page as the published file holds it."""
    groups = {title: [each.rule for each in checks] for title, checks in GROUPS.items()}
    return "\n".join(
        (
            _INTRODUCTION,
            *(line for title, rules in groups.items() for line in _group(title, rules)),
            *_limits(),
            _IN_CLUSTER,
            *_group("", [each.rule for each in IN_CLUSTER]),
            _NOT_CHECKED + _UPSTREAM + _JSON + _example(),
        )
    )


def _group(title: str, rules: Iterable[Rule]) -> Iterator[str]:
    heading = f"## {title}\n\n" if title else ""
    yield f"{heading}| check | a plugin | why | read | needs |\n|---|---|---|---|---|"
    for each in rules:
        needs = ", ".join(f"`{needed}`" for needed in each.needs)
        yield f"| `{each.id}` | {each.title} | {each.why} | {each.source} | {needs} |"
    yield ""


def _limits() -> Iterator[str]:
    yield "## Limits\n\n| seconds | |\n|---|---|"
    for each in fields(Limits):
        yield f"| {each.default:g} | {_LIMITS[each.name]} |"
    yield ""


def _example() -> str:
    """Return a report of one check, as it is printed."""
    rule = next(each.rule for each in CHECKS if each.rule.id == "ids")
    result = Result(rule, Verdict.FAILED, "listed more than once: 'gpu-0'")
    command = ("my-plugin", "--dir", "{dir}")
    report = Report(command, "example.com/gpu", ("example.com/gpu",), (result,))
    return f"```json\n{json.dumps(report.as_json(), indent=2)}\n```\n"


if __name__ == "__main__":
    sys.stdout.write(page())
