"""What `gpulab run` makes of its scenarios, on a lab that is up or on one of its own."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.cli.main import run
from lab.cluster.connection import ApiFailed
from lab.core.errors import CheckFailed, Interrupted
from lab.harness import venue
from lab.harness.results import results_in
from lab.host.folders import Folders
from lab.install.backend import NoPlace
from lab.install.lock import alone, alone_at
from lab.install.site import Site
from tests.unit.cli.running_labs import Act, Labs, fails, up
from tests.unit.cli.two_nodes import Output


def test_a_lab_that_is_up_is_used_and_left(labs: Labs, capsys: Output) -> None:
    """A summary names what took longest."""
    up(labs)
    assert run(["run", "a", "b", "--name", "t", "--backend", "kind"]) == 0
    assert labs.told == ["place chapter", "run a", "place chapter", "run b"]
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines()[-1].startswith("2 runs held; slowest: ")
    assert "1 of 2 a: It is so" in shown.err


def test_a_scenario_takes_as_long_as_its_result_says(labs: Labs, capsys: Output) -> None:
    """That of its lab and its fleet is not its own."""
    labs.seconds = 2.346
    assert run(["run", "a", "--name", "t", "--backend", "kind", "--output", "json"]) == 0
    shown = capsys.readouterr()
    assert [each["seconds"] for each in json.loads(shown.out)["scenarios"]] == [2.346]
    assert shown.err.endswith("1 run held; slowest: a 2.3 s\n")


def test_a_lab_that_goes_before_the_run_has_it_is_not_made_anew(
    labs: Labs, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another command was at work on it until then; nobody has asked for a cluster."""

    @contextmanager
    def after_down(site: Site, name: str) -> Iterator[Site]:
        shutil.rmtree(labs.state / name)
        with alone_at(site, name) as own:
            yield own

    monkeypatch.setattr(venue, "alone_at", after_down)
    up(labs)
    assert run(["run", "a", "--name", "t"]) == 3
    assert "error: there is no lab 't'\n" in capsys.readouterr().err
    assert labs.told == []


def test_a_lab_of_its_own_has_nodes_for_every_fleet_and_goes(labs: Labs) -> None:
    """It is made with the first fleet."""
    assert run(["run", "--name", "t", "--backend", "kind"]) == 0
    assert labs.told[:3] == ["make t", "place chapter", "run a"]
    assert labs.told[-1] == "remove t"
    assert labs.order
    assert labs.order.workers == 2
    assert labs.options == ("--name", "t", "--backend", "kind")


GOES = "what was made for this run goes with it; --keep leaves it\n"


def interrupted() -> None:
    """Be interrupted by Ctrl-C."""
    raise Interrupted("interrupted by SIGINT")


@pytest.mark.parametrize(("act", "code"), [(fails, 1), (interrupted, 130)])
def test_a_lab_of_its_own_goes_whatever_happens(
    labs: Labs, capsys: Output, act: Act, code: int
) -> None:
    """After Ctrl-C nothing else is run, and who waits for the end is told why that takes long."""
    labs.acts["a"] = [act]
    assert run(["run", "a", "b", "--name", "t", "--backend", "kind"]) == code
    assert (GOES in capsys.readouterr().err) == (code != 1)
    assert ("run b" in labs.told) == (code == 1)
    assert labs.told[-1] == "remove t"
    # Whoever comes next finds nobody there.
    assert not (Folders.of().cache / "locks" / "t.user").exists()


def test_a_lab_that_is_kept_is_told(labs: Labs, capsys: Output) -> None:
    """With what shows and what removes it, be the run a failure or not."""
    labs.acts["a"] = [fails]
    assert run(["run", "a", "--name", "t", "--backend", "kind", "--keep"]) == 1
    assert "remove t" not in labs.told
    assert (
        "kept: the lab t; to look at it, and to remove it:\n"
        "  $ gpulab status --name t\n"
        "  $ gpulab down --name t\n"
    ) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--backend", "existing"), "--backend existing: the lab 't' is on the backend 'kind'"),
        (("--kubeconfig", "c"), "--kubeconfig: the lab 't' is on the backend 'kind'"),
        (("--node-image", "i"), "--node-image: for a lab that is made for the run, and the lab"),
    ],
)
def test_what_a_lab_that_is_up_is_not_is_refused(
    labs: Labs, options: tuple[str, str], told: str, capsys: Output
) -> None:
    """Nothing has been run then."""
    up(labs)
    assert run(["run", "a", "--name", "t", *options]) == 2
    assert f"error: {told}" in capsys.readouterr().err
    assert labs.told == []


def test_what_the_lab_cannot_serve_is_skipped(labs: Labs, capsys: Output) -> None:
    """With the reason, apart from what ran; once, however often it was to be run."""
    up(labs)
    labs.acts["a"] = [lambda: None, fails]
    options = ("--repeat", "2", "--seed", "3", "--name", "t", "--output", "json")
    assert run(["run", "a", "b", "c", *options]) == 1
    shown = capsys.readouterr()
    told = json.loads(shown.out)
    assert [each["name"] for each in told["scenarios"]].count("a") == 2
    reason = "the backend kind cannot restart here"
    assert told["skipped"] == [{"name": "c", "reason": reason}]
    assert shown.err.count(f"c: skipped: {reason}") == 1
    assert "3 runs held, 1 did not, 1 scenario skipped; slowest: " in shown.err
    assert "place pair" not in labs.told


@pytest.mark.parametrize(("acts", "code"), [([], 0), ([fails], 1)])
def test_who_had_scenarios_skipped_is_told_how_to_run_them(
    labs: Labs, capsys: Output, acts: list[Act], code: int
) -> None:
    """By a command that runs the same ones, in the same order, where there are nodes enough."""
    up(labs)
    labs.full.add("mig")
    labs.acts["a"] = acts
    assert run(["run", "--seed", "3", "--name", "t"]) == code
    assert (
        "\n1 of 2 skipped scenarios can run on a lab that is made for the run:\n"
        "  $ gpulab run --seed 3 --backend kind --name another-name\n"
    ) in capsys.readouterr().err


@pytest.mark.parametrize(("backend", "told"), [("existing", True), ("kind", False)])
def test_a_lab_of_its_own_is_offered_for_what_another_backend_cannot(
    labs: Labs, capsys: Output, backend: str, *, told: bool
) -> None:
    """What kind cannot do to its nodes, it cannot do to those of the next lab either."""
    up(labs, backend)
    assert run(["run", "a", "c", "--name", "t"]) == 0
    offer = (
        "\n1 of 1 skipped scenario can run on a lab that is made for the run:\n"
        "  $ gpulab run a c --backend kind --name another-name\n"
    )
    shown = capsys.readouterr().err
    assert f"c: skipped: the backend {backend} cannot restart here" in shown
    assert ((offer in shown), ("--backend kind" in shown)) == (told, told)


def test_what_was_skipped_is_in_the_report(
    labs: Labs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A colleague who reads it sees that it was not tried, and why."""
    monkeypatch.chdir(tmp_path)
    up(labs)
    assert run(["run", "a", "c", "--name", "t"]) == 0
    _, found = results_in(tmp_path / "lab-evidence")
    assert found.folder.name == "002-c"
    assert (found.result.verdict, found.result.report) == (
        "skipped",
        "the backend kind cannot restart here",
    )


def test_what_never_had_its_fleet_is_a_failure_in_the_report(
    labs: Labs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the place of what an earlier run has left, which may have held."""
    up(labs)

    def place(*_: object) -> None:
        raise CheckFailed("the devices did not come")

    monkeypatch.setattr(labs, "place", place)
    assert run(["run", "a", "--name", "t"]) == 1
    (found,) = results_in(tmp_path / "lab-evidence")
    assert found.folder.name == "001-a"
    assert (found.result.verdict, found.result.report) == ("failed", "the devices did not come")
    assert found.result.options == ("--name", "t")


def test_where_nothing_can_run_that_is_the_error(labs: Labs, capsys: Output) -> None:
    """Of the backend or of the fleet, by scenario."""
    up(labs)
    labs.full.add("chapter")
    assert run(["run", "a", "c", "--name", "t"]) == 3
    assert capsys.readouterr().err.endswith(
        "error: none of 2 scenarios could run on the lab 't'\n"
        "  seen:  a: the fleet needs 3 workers, and the lab that is there has 1\n"
        "         c: the backend kind cannot restart here\n"
        "  next:  have a lab made for the run: 1 of 2 skipped scenarios can run on it\n"
        "         $ gpulab run a c --backend kind --name another-name\n"
    )


def test_where_no_lab_could_serve_anything_none_is_offered(labs: Labs, capsys: Output) -> None:
    """Others can be chosen, by what they need."""
    up(labs)
    assert run(["run", "c", "--name", "t"]) == 3
    assert capsys.readouterr().err.endswith(
        "error: none of 1 scenario could run on the lab 't'\n"
        "  seen:  c: the backend kind cannot restart here\n"
        "  next:  choose scenarios that need none of it; the list says what each needs\n"
        "         $ gpulab list --output json\n"
    )


def test_what_does_not_fit_in_the_scenario_itself_is_its_failure(labs: Labs) -> None:
    """It had its own fleet then, and so is not skipped."""
    up(labs)

    def too_big() -> None:
        raise NoPlace("the fleet needs 9 workers")

    labs.acts["a"] = [too_big]
    assert run(["run", "a", "--name", "t"]) == 1


def test_flakes_are_counted_and_the_order_can_be_had_again(labs: Labs, capsys: Output) -> None:
    """By the seed, on a lab of its own again."""
    labs.acts["a"] = [fails, lambda: None, fails]
    options = ("--repeat", "4", "--seed", "7", "--name", "t", "--backend", "kind")
    assert run(["run", "a", *options, "--evidence", "my runs"]) == 1
    assert capsys.readouterr().err.endswith(
        "error: 1 of 1 scenario did not hold: a\n"
        "  where: my runs\n"
        "  seen:  a: 2 of 4 did not hold\n"
        "  next:  read what was kept of it, and run it again\n"
        "         $ gpulab report 'my runs'\n"
        "         $ gpulab run a --repeat 4 --seed 7 --evidence 'my runs' --name t --backend kind\n"
        "         $ gpulab run a --evidence 'my runs' --name t --backend kind\n"
    )


def test_each_failure_has_its_evidence_and_its_command(labs: Labs, capsys: Output) -> None:
    """The end of a long run names one of them only."""
    up(labs)
    labs.acts |= {"a": [fails], "b": [fails]}
    assert run(["run", "a", "b", "--name", "t", "--evidence", "kept"]) == 1
    shown = capsys.readouterr().err
    for number, name in enumerate("ab", 1):
        assert (
            f"not so\n  evidence: kept/00{number}-{name}\n"
            f"  $ gpulab run {name} --evidence kept --name t\n"
        ) in shown


def test_a_cluster_that_is_lost_is_one_error(labs: Labs, capsys: Output) -> None:
    """What ran before is told, and nothing is run after it."""
    up(labs)
    kept = ("--evidence", "my runs")

    def lose() -> None:
        labs.away = ApiFailed("the API server does not answer", seen="Connection refused")
        raise CheckFailed("not so")

    labs.acts["b"] = [lose]
    assert run(["run", "a", "b", "--repeat", "2", "--name", "t", "--output", "json", *kept]) == 3
    shown = capsys.readouterr()
    assert [each["ok"] for each in json.loads(shown.out)["scenarios"]] == [True, False]
    assert "not so" not in shown.err
    assert "\n1 run held, 1 did not; slowest: " in f"\n{shown.err}"
    assert shown.err.endswith(
        "error: the cluster of the lab 't' was lost in scenario 2 of 4, 'b'\n"
        f"  where: {labs.state}/t/kubeconfig\n"
        "  seen:  Connection refused\n"
        "  next:  see what became of it; what came of the scenarios before is kept in "
        "my runs\n"
        "         $ gpulab status --name t\n"
        "         $ gpulab report 'my runs'\n"
    )


@pytest.mark.parametrize("status", [0, 500, 503])
def test_a_server_that_is_not_itself_is_lost(labs: Labs, status: int) -> None:
    """One that answers with an error of its own can no more run a scenario than none at all."""
    up(labs)
    labs.away = ApiFailed("unavailable", status=status)
    labs.acts["a"] = [fails]
    assert run(["run", "a", "b", "--name", "t"]) == 3
    assert labs.told[-1] == "run a"


def test_a_server_that_refuses_is_not_lost(labs: Labs) -> None:
    """It answers, so the next scenario may hold."""
    up(labs)
    labs.away = ApiFailed("refused", status=403)
    labs.acts["a"] = [fails]
    assert run(["run", "a", "b", "--name", "t"]) == 1
    assert labs.told[-1] == "run b"


def test_evidence_that_cannot_be_written_is_told_first(
    labs: Labs, tmp_path: Path, capsys: Output
) -> None:
    """Before a lab is made."""
    (tmp_path / "file").write_text("")
    assert run(["run", "a", "--backend", "kind", "--evidence", "file/in"]) == 3
    assert "error: the evidence of a failed test cannot be written" in capsys.readouterr().err
    assert labs.told == []


@pytest.mark.parametrize(
    "command",
    [
        ("up",),
        ("down",),
        ("run", "a"),
        ("run", "a", "--backend", "kind"),
        ("conform", "--image", "plugin:1"),
    ],
)
def test_a_lab_that_a_run_has_is_left_to_it(
    labs: Labs, capsys: Output, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever others would do to it; they are told who has it."""
    # Those that were not refused would find no Docker.
    monkeypatch.setenv("PATH", "")
    up(labs)
    labs.acts["a"] = [lambda: labs.told.append(f"exit {run([*command, '--name', 't'])}")]
    assert run(["run", "a", "--name", "t"]) == 0
    assert labs.told == ["place chapter", "run a", "exit 3"]
    assert (
        "error: the lab 't' is in use by another command\n"
        f"  seen:  gpulab run, process {os.getpid()}\n"
    ) in capsys.readouterr().err


def test_a_run_does_not_use_a_lab_that_another_command_has(labs: Labs, capsys: Output) -> None:
    """Nor does it begin."""
    up(labs)
    with alone(Folders.of(), "t", "pytest"):
        assert run(["run", "a", "--name", "t"]) == 3
    assert f"  seen:  pytest, process {os.getpid()}\n" in capsys.readouterr().err
    assert labs.told == []


NOW = (
    "the lab 't' has now the fleet of the last scenario, in place of one of chapter (1 node); to "
    "put another one on it, or without --fleet the chapter's:\n"
    "  $ gpulab up --name t --fleet FILE\n"
)


@pytest.mark.parametrize(("acts", "code"), [([], 0), ([fails], 1)])
def test_a_lab_that_has_another_fleet_than_before_is_told(
    labs: Labs, capsys: Output, acts: list[Act], code: int
) -> None:
    """Whoever brought it up with one of their own would miss it."""
    up(labs)
    labs.acts["d"] = acts
    assert run(["run", "a", "--name", "t"]) == 0
    assert "has now the fleet" not in capsys.readouterr().err
    assert run(["run", "a", "d", "--name", "t"]) == code
    assert NOW in capsys.readouterr().err


@pytest.mark.usefixtures("labs")
def test_of_a_lab_that_goes_no_fleet_is_told(capsys: Output) -> None:
    """It was made for the run."""
    assert run(["run", "a", "d", "--name", "t", "--backend", "kind"]) == 0
    assert "has now the fleet" not in capsys.readouterr().err
