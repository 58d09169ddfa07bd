"""A plugin with one vice fails the check of that vice, and no other."""

import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from typing import Final

import pytest

from lab.cli.console import PlainProgress
from lab.conformance.check import Result, Verdict
from lab.conformance.command import PluginCommand
from lab.conformance.contract import CHECKS, GROUPS
from lab.conformance.examination import examine
from lab.conformance.limits import Limits
from lab.conformance.report import Report

PLUGIN: Final = Path(__file__).with_name("bad_plugin.py")
#: As in earnest, but for what only costs time.
LIMITS: Final = Limits(
    register=6.0,
    first_list=3.0,
    call=4.0,
    pre_start=4.0,
    end=3.0,
    quiet=0.4,
    refusal=0.6,
    comes_back=0.4,
)
VICES: Final = {
    "never-registers": "registers",
    "old-version": "version",
    "native-name": "resource-name",
    "path": "endpoint",
    "long-endpoint": "endpoint",
    "nul-in-endpoint": "endpoint",
    "coloured-endpoint": "endpoint",
    "listens-late": "listens-first",
    "no-options": "options",
    "silent-about-options": "options",
    "no-list": "first-list",
    "large-list": "list-size",
    "same-id": "ids",
    "no-id": "ids",
    "lower-case": "health",
    "numa-below-0": "numa",
    "ends-stream": "stream-stays",
    "one-stream": "second-stream",
    "keeps-streams": "stream-cancelled",
    "answers-nothing": "allocate",
    "keeps-accounts": "allocate-again",
    "one-per-device": "allocate-several",
    "one-for-all": "allocate-per-container",
    "takes-all": "allocate-unknown",
    "crashes": "allocate-unknown",
    "one-at-a-time": "allocate-concurrent",
    "odd-variable": "answer-envs",
    "relative-mount": "answer-mounts",
    "relative-host-path": "answer-mounts",
    "relative-device": "answer-devices",
    "odd-permissions": "answer-devices",
    "short-cdi-name": "answer-cdi",
    "prefers-none": "preferred",
    "prefers-foreign": "preferred",
    "prefers-twice": "preferred",
    "prefers-others": "preferred",
    "fails-pre-start": "pre-start",
    "registers-twice": "registers-once",
    "any-file": "unrelated-files",
    "ends-with-file": "unrelated-files",
    "deaf": "kubelet-restart",
    "ends-with-kubelet": "kubelet-restart",
    "keeps-socket": "kubelet-restart",
    "lists-once": "kubelet-restart",
    "dies-with-socket": "socket-removed",
    "drops-with-socket": "socket-removed",
    "ignores-sigterm": "sigterm",
    "leaves-socket": "socket-gone",
    "fails-on-leftover": "restart-after-kill",
    "new-ids": "ids-stable",
    "spins": "refused",
    "ends-well": "refused",
    "gives-up": "recovers",
}


TAKE_A_DEVICE: Final = {
    *("ids", "health", "numa", "ids-stable", "preferred", "pre-start"),
    *(each.rule.id for each in GROUPS["Allocate"]),
}

#: Plugins that are tried at once: most of the time goes by with waiting.
AT_ONCE: Final = 4

Reports = dict[str, "Future[Report]"]


@pytest.fixture(scope="module")
def reports(request: pytest.FixtureRequest) -> Iterator[Reports]:
    """Return the reports on the plugins of all tests that were selected, as they come."""
    specs = [getattr(each, "callspec", None) for each in request.session.items]
    vices = [str(spec.params["vice"]) for spec in specs if spec and "vice" in spec.params]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {vice: pool.submit(examined, vice) for vice in ["none", *vices]}


def examined(vice: str) -> Report:
    """Return the report on a plugin with that vice."""
    command = PluginCommand((sys.executable, str(PLUGIN), "{dir}", vice))
    return examine(command, resource="", limits=LIMITS, progress=PlainProgress(StringIO()))


def told(results: tuple[Result, ...]) -> dict[str, str]:
    """Return what was seen, by check."""
    return {each.rule.id: each.seen for each in results}


def test_a_plugin_without_vice_keeps_the_contract(reports: Reports) -> None:
    """It offers everything, so that no check but one is left out."""
    report = reports["none"].result()
    assert told(report.of(Verdict.FAILED)) == {}
    assert list(told(report.of(Verdict.NOT_APPLICABLE))) == ["socket-removed"]


@pytest.mark.parametrize(("vice", "check"), VICES.items())
def test_a_vice_fails_its_check_alone(vice: str, check: str, reports: Reports) -> None:
    """What the vice makes impossible to check is not applicable."""
    report = reports[vice].result()
    assert list(told(report.of(Verdict.FAILED))) == [check], told(report.results)


@pytest.mark.parametrize("vice", ["no-devices"])
def test_a_plugin_without_devices_is_told_so_and_fails_nothing(vice: str, reports: Reports) -> None:
    """A kubelet takes an empty list; what takes a device cannot be seen to be well."""
    report = reports[vice].result()
    assert told(report.of(Verdict.FAILED)) == {}
    words = "an empty list: what takes a device cannot be checked"
    assert told(report.of(Verdict.PASSED))["first-list"] == words
    assert set(told(report.of(Verdict.NOT_APPLICABLE))) == TAKE_A_DEVICE | {"socket-removed"}


@pytest.mark.parametrize("vice", ["devices-later"])
def test_a_plugin_that_finds_its_devices_later_is_waited_for(vice: str, reports: Reports) -> None:
    """It lists none first, at every start."""
    report = reports[vice].result()
    assert told(report.of(Verdict.FAILED)) == {}
    assert told(report.of(Verdict.PASSED))["first-list"] == "5 devices"


@pytest.mark.parametrize("vice", ["brings-back"])
def test_a_plugin_that_brings_its_socket_back_passes_all(vice: str, reports: Reports) -> None:
    """It listens anew, and registers that: nothing is left out."""
    report = reports[vice].result()
    assert told(report.of(Verdict.FAILED)) == {}
    assert told(report.of(Verdict.NOT_APPLICABLE)) == {}
    assert told(report.of(Verdict.PASSED))["socket-removed"] == "it brought it back"


@pytest.mark.parametrize("vice", ["ends-ill"])
def test_a_plugin_may_end_by_an_error_when_it_is_refused(vice: str, reports: Reports) -> None:
    """Whoever runs it sees that, and starts it again; it has nothing to recover from."""
    report = reports[vice].result()
    assert told(report.of(Verdict.FAILED)) == {}
    seen = told(report.of(Verdict.PASSED))["refused"]
    assert seen == "1 call of Register, then it ended with exit code 1"
    assert told(report.of(Verdict.NOT_APPLICABLE)).keys() == {"socket-removed", "recovers"}


def test_every_check_has_a_vice() -> None:
    """A check that no plugin fails may be one that cannot fail."""
    assert set(VICES.values()) == {each.rule.id for each in CHECKS}
