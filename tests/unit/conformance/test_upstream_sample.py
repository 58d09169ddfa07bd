"""Kubernetes' own sample device plugin, where it was compiled before."""

import shutil
from pathlib import Path
from typing import Final

import pytest

from benchmarks.upstream import sample_at_hand
from lab.conformance.check import Verdict
from lab.conformance.command import PluginCommand
from lab.conformance.examination import examine
from lab.conformance.fixed_folder import at_fixed_folder
from lab.conformance.limits import Limits
from lab.core.errors import NotReady
from lab.core.progress import Progress
from lab.host.folders import Folders
from lab.host.processes import Processes

#: It makes files in /tmp as it allocates: here in one of its own.
PRIVATE: Final = "mount -t tmpfs tmpfs /tmp && exec {program}"
#: What it does not offer, and what only plugins do that it is not one of.
NOT_APPLICABLE: Final = {
    "numa": "no device has a topology",
    "answer-envs": "there are none",
    "answer-devices": "there are none",
    "answer-cdi": "there are none",
    "preferred": "it does not offer GetPreferredAllocation",
    "pre-start": "it does not ask for PreStartContainer",
    "socket-removed": "it leaves it at that, and the kubelet, which keeps its connection, never "
    "dials again",
    "recovers": "it had ended, and is to be started anew",
}


@pytest.fixture
def sample(tmp_path: Path, progress: Progress) -> Path:
    """Return the program; it knows one path for the kubelet, which has to be served."""
    program = sample_at_hand(Processes(), Folders.of(), progress)
    if program is None:
        pytest.skip("it is not compiled here: make bench-plugin does that, where Go is")
    try:
        at_fixed_folder(tmp_path, Processes())
    except NotReady as reason:
        pytest.skip(reason.what)
    return program


def test_the_sample_keeps_the_contract(sample: Path, progress: Progress) -> None:
    """It takes ten seconds to notice that the kubelet has restarted, and ends when refused."""
    script = PRIVATE.format(program=sample)
    command = PluginCommand((str(shutil.which("unshare")), "--mount", "sh", "-c", script))
    report = examine(command, resource="", limits=Limits(), progress=progress)
    assert report.resource == "example.com/resource"
    assert report.of(Verdict.FAILED) == ()
    told = {each.check.id: each.seen for each in report.results}
    assert {each.check.id: each.seen for each in report.of(Verdict.NOT_APPLICABLE)} == (
        NOT_APPLICABLE
    )
    assert told["refused"] == "1 call of Register, then it ended with exit code 2"
    assert told["kubelet-restart"].startswith("after 1")
