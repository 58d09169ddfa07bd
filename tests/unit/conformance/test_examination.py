"""One check after the other: what becomes of the plugin between them, and what is left behind."""

import os
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from fake_plugin.api.deviceplugin_pb2 import AllocateResponse
from lab.conformance import command, examination
from lab.conformance.calls import Calls
from lab.conformance.check import Check, Failed, NotApplicable, Result, Verdict, check
from lab.conformance.checks import answers
from lab.conformance.checks.registration import registers
from lab.conformance.command import PluginCommand
from lab.conformance.contract import CHECKS
from lab.conformance.examination import examine
from lab.conformance.limits import Limits
from lab.conformance.report import Report
from lab.conformance.trial import Trial
from lab.core.errors import CheckFailed, Interrupted, NotReady
from lab.core.progress import Progress
from lab.embedded.kubelet.client import PluginClient
from lab.embedded.kubelet.connection import PluginError
from lab.host.processes import pasteable
from tests.unit.waiting import wait_until

if TYPE_CHECKING:
    from lab.conformance.process import PluginProcess

PLUGIN: Final = (sys.executable, str(Path(__file__).with_name("bad_plugin.py")), "{dir}", "none")
ENDS: Final = (*PLUGIN[:-1], "ends-later")
#: Has printed more than a pipe holds before it goes on as a plugin.
NOISY: Final = r"""yes "$(printf '\033[2J busy')" | head -c 1100000; exec "$0" "$@" """
FLEET: Final = """\
apiVersion: gpu-lab/v1
kind: Fleet
pools:
  - {name: one, nodes: 1, nodeNames: [here], resource: example.com/one, count: 2}
  - {name: two, nodes: 1, nodeNames: [here], resource: example.com/two, count: 2}
"""

NOTHING: Final = "0 container responses to 1 container request"

Examine = Callable[..., Report]


@pytest.fixture
def place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which examinations make theirs."""
    monkeypatch.setattr(examination, "_PLACE", str(folder))
    return folder


@pytest.fixture
def examined(place: Path, progress: Progress) -> Examine:
    """Return what makes some checks on a plugin; then nothing of it is left."""

    def examined(
        *checks: Check[Trial],
        argv: tuple[str, ...] = PLUGIN,
        resource: str = "",
        seconds: float = 20,
    ) -> Report:
        try:
            return examine(
                PluginCommand(argv),
                resource=resource,
                limits=Limits(register=seconds),
                progress=progress,
                checks=(registers, *checks),
            )
        finally:
            assert list(place.iterdir()) == []

    return examined


def made(name: str, make: Callable[[Trial], str], *needs: str) -> Check[Trial]:
    """Return a check of the test's own."""
    return check(name, name, why="", source="", needs=needs)(make)


def raising(error: Exception) -> Callable[[Trial], str]:
    """Return what makes a check that ends with the error."""

    def make(_: Trial) -> str:
        raise error

    return make


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("sh", "-c", "echo no devices here >&2; exit 3"), "it ended with exit code 3"),
        (("sh", "-c", "echo no devices here; kill -9 $$"), "it ended by SIGKILL"),
    ],
)
def test_a_plugin_that_ends_at_once_did_not_start(
    argv: tuple[str, ...], words: str, examined: Examine
) -> None:
    """The error has how it ended, and what it said last."""
    with pytest.raises(NotReady) as failed:
        examined(argv=argv)
    assert failed.value.what == f"the plugin did not start: {words} before it called Register"
    assert failed.value.seen == "no devices here"
    assert "run the command by itself" in failed.value.remedy


@pytest.mark.parametrize("argv", [("no-such-plugin", "{dir}"), ("no-such-plugin",)])
def test_a_program_that_is_missing_is_named(
    argv: tuple[str, ...],
    examined: Examine,
    monkeypatch: pytest.MonkeyPatch,
    said: list[str],
) -> None:
    """By the command of the user, whatever it is started by, and the step has failed."""
    monkeypatch.setattr(command, "at_fixed_folder", lambda *_: ("sh", "-c", "exec $*", "sh"))
    with pytest.raises(NotReady) as failed:
        examined(argv=argv)
    assert failed.value.what == "the program no-such-plugin cannot be started"
    assert failed.value.where == pasteable(argv)
    assert said == ["failed: Try the plugin"]


def test_a_plugin_that_looks_under_the_fixed_path_is_named_by_its_own_command(
    examined: Examine, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    """And not by ours, which puts the folder there."""
    monkeypatch.setattr(command, "at_fixed_folder", lambda *_: ("env", "OURS=1"))
    with pytest.raises(NotReady) as failed:
        examined(argv=("sh", "-c", "exit 3"))
    assert failed.value.where == "sh -c 'exit 3'"
    assert said == ["failed: Try the plugin"]


@pytest.mark.skipif(sys.platform != "linux", reason="only there what has gone away is found")
def test_what_a_plugin_has_started_ends_with_it(examined: Examine, tmp_path: Path) -> None:
    """In a session of its own, and without a parent, too."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    strays = '(setsid sleep 600 3>"$0" &); exec "$@"'
    examined(argv=("sh", "-c", strays, str(tmp_path / "pipe"), *PLUGIN))
    # Somebody has had it open, and nobody has.
    assert select.select([reader], [], [], 0)[0]
    assert os.read(reader, 1) == b""
    os.close(reader)


@pytest.mark.parametrize(
    ("number", "words"), [(signal.SIGTERM, "SIGTERM"), (40, "signal 40"), (64, "SIGRTMAX")]
)
def test_an_end_by_a_signal_is_told_by_its_name(number: int, words: str, examined: Examine) -> None:
    """Where it has one."""
    with pytest.raises(NotReady, match=f"it ended by {words} before it called Register"):
        examined(argv=("sh", "-c", f"kill -{int(number)} $$", "{dir}"))


def test_a_plugin_that_ends_later_is_told_with_its_last_words(examined: Examine) -> None:
    """What it broke off would say less."""
    report = examined(next(each for each in CHECKS if each.rule.id == "first-list"), argv=ENDS)
    (failed,) = report.of(Verdict.FAILED)
    assert failed.seen.startswith("it ended with exit code 5; ")


def test_a_plugin_that_has_ended_before_it_is_looked_at_fails(
    examined: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else one that ends fast enough would fail nothing."""
    accepted = Trial.accepted

    def seen_late(trial: Trial) -> PluginClient | None:
        process = trial.process
        if process and accepted(trial):
            wait_until("the plugin has ended", lambda: process.has_ended, 20)
        return accepted(trial)

    monkeypatch.setattr(Trial, "accepted", seen_late)
    report = examined(next(each for each in CHECKS if each.rule.id == "first-list"), argv=ENDS)
    (failed,) = report.of(Verdict.FAILED)
    assert failed.seen.startswith("it ended with exit code 5; ")


def test_a_call_that_the_plugin_does_not_survive_is_told_with_both(examined: Examine) -> None:
    """The words of the call, and how the plugin ended."""

    def kill(trial: Trial) -> str:
        if trial.process:
            trial.process.kill()
        raise PluginError("EOF")

    report = examined(made("own", kill))
    assert report.results[-1].seen == "EOF; it ended by SIGKILL; (it printed nothing)"


def test_a_plugin_that_prints_without_end_does_so_on_nobodys_disk(
    examined: Examine, place: Path
) -> None:
    """What it says last is told all the same, with what a terminal would obey to be seen."""
    written: list[int] = []
    words: list[str] = []

    def look(trial: Trial) -> str:
        written.extend(each.stat().st_size for each in place.rglob("*") if each.is_file())
        if trial.process:
            words.extend(trial.process.last_words.splitlines())
        return ""

    examined(made("own", look), argv=("sh", "-c", NOISY, *PLUGIN))
    assert sum(written) < 1000
    assert words[-2:] == ["␛[2J busy"] * 2


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, ...]:
    """Return the command of a plugin with two resources."""
    (tmp_path / "fleet.yaml").write_text(FLEET)
    options = f"--fleet {tmp_path}/fleet.yaml --node here --state-dir {tmp_path}"
    command = (sys.executable, "-m", "fake_plugin", *options.split(), "--device-plugin-dir")
    return (*command, "{dir}")


@pytest.mark.parametrize("resource", ["example.com/one", "example.com/two"])
def test_the_resource_that_is_asked_for_is_tried(
    resource: str, two: tuple[str, ...], examined: Examine
) -> None:
    """The other one is told as well."""
    lists = next(each for each in CHECKS if each.rule.id == "first-list")
    report = examined(lists, argv=two, resource=resource)
    assert report.resource == resource
    assert [each.seen for each in report.of(Verdict.PASSED)][1:] == ["2 devices"]


def test_a_resource_that_does_not_come_is_a_failure(
    two: tuple[str, ...], examined: Examine
) -> None:
    """With those that came instead."""
    report = examined(argv=two, resource="example.com/three", seconds=8)
    (failed,) = report.of(Verdict.FAILED)
    assert failed.rule.id == "registers"
    assert failed.seen.startswith("no Register within 8 s; registered: example.com/")
    assert sorted(report.resources) == ["example.com/one", "example.com/two"]


def test_an_answer_of_nothing_fails_whoever_looks_at_it(
    examined: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the plugin has answered well before."""
    monkeypatch.setattr(Calls, "allocate", lambda *_: AllocateResponse())
    looks = (answers.answer_envs, answers.answer_mounts, answers.answer_cdi)
    report = examined(*(made(str(at), each.make) for at, each in enumerate(looks)))
    seen = {each.seen for each in report.of(Verdict.FAILED)}
    assert (len(report.of(Verdict.FAILED)), seen) == (3, {NOTHING})


@pytest.mark.parametrize(
    ("make", "verdict", "seen"),
    [
        (lambda _: "well", Verdict.PASSED, "well"),
        (raising(Failed("ill")), Verdict.FAILED, "ill"),
        (raising(PluginError("no")), Verdict.FAILED, "no"),
        (raising(NotApplicable("nothing there")), Verdict.NOT_APPLICABLE, "nothing there"),
    ],
)
def test_a_check_ends_in_a_verdict(
    make: Callable[[Trial], str], verdict: Verdict, seen: str, examined: Examine
) -> None:
    """With what was seen, or why there was nothing to see."""
    report = examined(made("own", make))
    assert report.results[1:] == (Result(report.results[1].rule, verdict, seen),)


@pytest.mark.parametrize(
    ("make", "step"),
    [
        (lambda _: "well", "done"),
        (raising(NotApplicable("nothing there")), "done"),
        (raising(Failed("ill")), "failed"),
        (raising(CheckFailed("torn")), "failed"),
    ],
)
def test_the_step_ends_as_the_trial_did(
    make: Callable[[Trial], str], step: str, examined: Examine, said: list[str]
) -> None:
    """A tick above a report of failures would be wrong."""
    assert examined(made("own", make)).problem is None
    assert said == [f"{step}: Try the plugin"]


def test_an_error_of_the_lab_is_a_verdict_of_one_check(examined: Examine) -> None:
    """Whatever the others have found is told as well."""
    torn = CheckFailed("the engine refused", seen="no space")
    report = examined(made("torn", raising(torn)), made("well", lambda _: "well"))
    verdicts = [(each.verdict, each.seen) for each in report.results[1:]]
    assert verdicts == [
        (Verdict.UNDECIDED, "the engine refused: no space"),
        (Verdict.PASSED, "well"),
    ]
    assert report.problem is None


def test_without_a_plugin_to_go_on_with_the_rest_is_undecided(
    examined: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found until then is told, and why there is no more."""
    lost = CheckFailed("the cluster is gone")
    monkeypatch.setattr(Trial, "renew", raising(lost))
    spoilt = made("spoilt", raising(AssertionError("it was made")))
    report = examined(made("ill", raising(Failed("ill"))), spoilt)
    assert [each.verdict for each in report.results] == [
        Verdict.PASSED,
        Verdict.FAILED,
        Verdict.UNDECIDED,
    ]
    assert report.results[-1].seen == "it was not made: the cluster is gone"
    assert report.problem is lost


@pytest.mark.parametrize("error", [Failed("ill"), NotApplicable("nothing there")])
def test_a_check_is_not_made_without_what_it_needs(error: Exception, examined: Examine) -> None:
    """Whether that failed, or had nothing to look at."""
    report = examined(
        made("first", raising(error)),
        made("second", raising(AssertionError("it was made")), "first"),
    )
    assert report.results[-1].verdict is Verdict.NOT_APPLICABLE
    assert report.results[-1].seen == "needs 'first', which did not pass"


def test_a_failure_ends_the_plugin_and_the_next_check_has_a_new_one(examined: Examine) -> None:
    """Other verdicts leave it as it is."""
    met: list[PluginProcess | None] = []

    def meet(trial: Trial) -> str:
        trial.registered()
        met.append(trial.process)
        return ""

    ill = made("ill", raising(Failed("ill")))
    examined(made("1", meet), made("2", meet), ill, made("3", meet))
    assert met[0] is met[1]
    assert met[2] is not met[1]
    assert met[1]
    assert met[1].has_ended


def test_a_fresh_plugin_that_does_not_register_is_asked_once(examined: Examine) -> None:
    """All that needs it would wait as long again, and is not applicable for the same reason."""

    def spoil(trial: Trial) -> str:
        trial.kubelet.misbehaviour.refuses = "no {}"
        raise Failed("spoilt")

    def need(trial: Trial) -> str:
        return trial.registered().resource

    report = examined(made("spoils", spoil), made("1", need), made("2", need), seconds=4)
    first, second = report.results[-2:]
    assert first.verdict is second.verdict is Verdict.NOT_APPLICABLE
    assert first.seen == second.seen
    assert first.seen.startswith("the plugin is not registered: the kubelet refused it: no bad-")


def test_an_interruption_leaves_nothing_behind(examined: Examine) -> None:
    """The plugin is ended, and the folder removed."""
    met: list[PluginProcess] = []

    def interrupt(trial: Trial) -> str:
        if trial.process:
            met.append(trial.process)
        raise Interrupted("interrupted")

    with pytest.raises(Interrupted):
        examined(made("own", interrupt))
    assert [each.has_ended for each in met] == [True]
