"""What `gpulab run` does where its lab cannot be made, or does not go, or is away for a moment."""

import pytest

from lab.cli.main import run
from lab.cluster.connection import ApiFailed
from lab.cluster.record import LabFolder, Record
from lab.core.errors import CleanUpFailed, Interrupted, NotReady
from tests.unit.cli.running_labs import Labs, Own, fails, up
from tests.unit.cli.two_nodes import Output


def test_a_lab_whose_folder_cannot_be_is_told(labs: Labs, capsys: Output) -> None:
    """Also where one is to be made for the run."""
    labs.state.mkdir()
    (labs.state / "t").write_text("")
    for backend in ((), ("--backend", "kind")):
        assert run(["run", "a", "--name", "t", *backend]) == 3
        assert "error: the folder of the lab 't' cannot be there" in capsys.readouterr().err
    assert labs.told == []


def not_made(*_: object) -> None:
    """Have no engine to make a lab by."""
    raise NotReady("no Docker engine answers")


@pytest.mark.parametrize("kept", [(), ("--keep",)])
def test_a_lab_that_cannot_be_made_is_one_error(
    labs: Labs, capsys: Output, monkeypatch: pytest.MonkeyPatch, kept: tuple[str, ...]
) -> None:
    """The next scenario would not have one either; where nothing is, nothing is taken away."""
    monkeypatch.setattr(Own, "make", not_made)
    assert run(["run", "a", "b", "--name", "t", "--backend", "kind", *kept]) == 3
    assert labs.told == []
    shown = capsys.readouterr().err
    assert shown.count("no Docker engine answers") == 1
    assert "kept: the lab" not in shown


def test_half_a_lab_is_not_kept(
    labs: Labs, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a kubeconfig there is nothing to look at."""

    def make(_: Own, name: str, __: object) -> None:
        LabFolder(labs.state / name).write(Record(name, "kind", "creating"))
        not_made()

    monkeypatch.setattr(Own, "make", make)
    assert run(["run", "a", "--name", "t", "--backend", "kind", "--keep"]) == 3
    assert labs.told == ["remove t"]
    shown = capsys.readouterr().err
    assert ("kept: the lab" in shown, "goes with it" in shown) == (False, False)


def test_what_stays_of_a_lab_is_told_beside_the_error(
    labs: Labs, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is the one that the run ends by."""

    def take_down(*_: object) -> None:
        raise CleanUpFailed("containers of the lab could not be removed")

    def interrupted() -> None:
        raise Interrupted("interrupted by SIGINT")

    monkeypatch.setattr(Own, "take_down", take_down)
    labs.acts["a"] = [interrupted]
    assert run(["run", "a", "--name", "t", "--backend", "kind"]) == 130
    assert "left behind: containers of the lab could not be removed\n" in capsys.readouterr().err


def test_a_server_that_is_back_in_a_moment_is_not_lost(
    labs: Labs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that restarts is away for some seconds, and the next scenario may hold."""
    up(labs)
    gone = ApiFailed("the API server does not answer")
    answers: list[ApiFailed | None] = [gone, gone, gone, None]

    def version() -> str:
        if lost := answers.pop(0):
            raise lost
        return "v1"

    monkeypatch.setattr(labs, "version", version)
    labs.acts["a"] = [fails]
    assert run(["run", "a", "b", "--name", "t"]) == 1
    assert (labs.told[-1], answers) == ("run b", [])
