"""What a command says of a lab that is not there: the same command again, of one that is."""

import pytest

from lab.cli.main import run
from lab.cli.program import of_another_lab
from lab.cluster.record import LabFolder, Record
from tests.unit.cli.running_labs import Labs
from tests.unit.cli.two_nodes import Output


def there(labs: Labs, *names: str) -> None:
    """Have labs of these names."""
    for name in names:
        LabFolder(labs.state / name).write(Record(name, "kind", "ready"))


def test_without_any_lab_a_run_says_how_to_have_one(labs: Labs, capsys: Output) -> None:
    """For good, or for the run that was asked for, with all that was asked of it."""
    asked = "a b --repeat 3 --seed 7 --evidence 'my runs'"
    assert run(["run", "a", "b", "--repeat", "3", "--seed", "7", "--evidence", "my runs"]) == 3
    assert capsys.readouterr().err == (
        "error: there is no lab 'gpu-lab'\n"
        f"  where: {labs.state / 'gpu-lab'}\n"
        "  next:  create it, or have one that is there for this run only\n"
        "         $ gpulab up --name gpu-lab\n"
        f"         $ gpulab run {asked} --name gpu-lab --backend kind\n"
    )


def test_labs_that_there_are_are_named_and_the_nearest_is_offered(
    labs: Labs, capsys: Output
) -> None:
    """Only the lab is another one in the command to paste."""
    there(labs, "other", "three")
    assert run(["inject", "unhealthy", "-n", "thre", "nvidia/3", "--xid", "79"]) == 3
    assert capsys.readouterr().err == (
        "error: there is no lab 'thre'\n"
        f"  where: {labs.state / 'thre'}\n"
        "  seen:  labs that there are: other, three\n"
        "  next:  name one that there is, or create it\n"
        "         $ gpulab inject unhealthy nvidia/3 --xid 79 --name three\n"
        "         $ gpulab up --name thre\n"
    )


@pytest.mark.usefixtures("engine")
def test_labs_that_there_are_are_named_where_none_is_removed(labs: Labs, capsys: Output) -> None:
    """Who has mistyped a name would think that the lab is gone."""
    there(labs, "other", "three")
    assert run(["down", "--name", "thre"]) == 0
    assert capsys.readouterr().err.splitlines()[-2:] == [
        "there is no lab 'thre': nothing to remove",
        "labs that there are: other, three",
    ]


@pytest.mark.parametrize(
    ("typed", "again"),
    [
        ("status", "status --name x"),
        ("status --name y -o json", "status -o json --name x"),
        ("status --name=y", "status --name x"),
        ("-h status -ny", "-h status --name x"),
        ("inject fault Allocate --nth 1", "inject fault Allocate --nth 1 --name x"),
        ("run -n y -- a -n", "run --name x -- a -n"),
    ],
)
def test_a_command_of_another_lab_is_the_same_otherwise(typed: str, again: str) -> None:
    """However the name was given; what comes after two dashes is no option."""
    assert of_another_lab(typed.split(), "x") == f"gpulab {again}"


def test_what_no_lab_could_be_is_told_before_that_there_is_none(labs: Labs, capsys: Output) -> None:
    """A lab for the run could not be made with that, either."""
    assert run(["run", "a", "--name", "t", "--nodes", "n1"]) == 2
    assert "--nodes: for a cluster that is there already" in capsys.readouterr().err
    assert labs.told == []
