"""Kubernetes' own sample device plugin, and its library, where they were compiled before."""

from pathlib import Path
from typing import Final

import pytest

from benchmarks.upstream import at_hand, build
from lab.conformance.check import Verdict
from lab.conformance.command import PluginCommand
from lab.conformance.examination import examine
from lab.conformance.fixed_folder import at_fixed_folder
from lab.conformance.limits import Limits
from lab.conformance.report import Report
from lab.core.errors import NotReady
from lab.core.progress import Progress
from lab.host.folders import Folders
from lab.host.processes import Processes
from tests.leaving_out import leave_out, nothing_is_left_out

#: The sample makes files in /tmp as it allocates: here in one of its own.
SAMPLE: Final = "unshare --mount sh -c 'mount -t tmpfs tmpfs /tmp && exec {sample}'"
#: A main of ours that uses the library as its first example does; it ends with its input.
LIBRARY: Final = "bash -c 'exec {library} {devices} < <(exec sleep 600)'"
_NO_NEWS: Final = (
    "it leaves it at that, and the kubelet, which keeps its connection, never dials again"
)
LEFT_OUT_OF_SAMPLE: Final = {
    "numa": "no device has a topology",
    "answer-envs": "there are none",
    "answer-devices": "there are none",
    "answer-cdi": "there are none",
    "preferred": "it does not offer GetPreferredAllocation",
    "pre-start": "it does not ask for PreStartContainer",
    "socket-removed": _NO_NEWS,
    "recovers": "it had ended, and is to be started anew",
}


@pytest.fixture
def programs(tmp_path: Path, progress: Progress) -> dict[str, Path]:
    """Return the programs; they know one path for the kubelet, which has to be served.

    Where no test may be left out they are compiled now, which needs modules from a network.
    """
    make = build if nothing_is_left_out() else at_hand
    found = make(Processes(), Folders.of(), progress)
    if found is None:
        leave_out("they are not compiled here: make bench-plugin does that, where Go is")
    try:
        at_fixed_folder(tmp_path / "d", Processes())
    except NotReady as reason:
        leave_out(reason.what)
    return dict(zip(("sample", "library"), found, strict=True))


def told(report: Report, verdict: Verdict) -> dict[str, str]:
    """Return what was seen by the checks with a verdict."""
    return {each.rule.id: each.seen for each in report.of(verdict)}


def test_the_sample_keeps_the_contract(programs: dict[str, Path], progress: Progress) -> None:
    """It takes ten seconds to notice that the kubelet has restarted, and ends when refused."""
    command = PluginCommand.parse(SAMPLE.format(**programs))
    report = examine(command, resource="", limits=Limits(), progress=progress)
    assert report.resource == "example.com/resource"
    assert told(report, Verdict.FAILED) == {}
    assert told(report, Verdict.NOT_APPLICABLE) == LEFT_OUT_OF_SAMPLE
    passed = told(report, Verdict.PASSED)
    assert passed["refused"] == "1 call of Register, then it ended with exit code 2"
    assert passed["kubelet-restart"].startswith("after 1")


@pytest.mark.parametrize(
    ("devices", "failures"),
    [
        (3, {}),
        (100_000, {"list-size": "5400000 bytes, where 4194304 are the limit"}),
    ],
)
def test_a_plugin_of_the_library_has_to_watch_the_kubelet_by_itself(
    devices: int, failures: dict[str, str], programs: dict[str, Path], progress: Progress
) -> None:
    """Who only starts and registers is lost at a restart, and leaves a socket at SIGTERM."""
    command = PluginCommand.parse(LIBRARY.format(**programs, devices=devices))
    report = examine(command, resource="", limits=Limits(register=6), progress=progress)
    assert told(report, Verdict.FAILED) == {
        **failures,
        "kubelet-restart": "no Register within 6 s",
        "socket-gone": "stub.sock is still there",
    }
