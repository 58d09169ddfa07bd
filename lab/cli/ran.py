"""What `gpulab run` says when its scenarios have run."""

import json
from typing import TYPE_CHECKING, Final

import click

from lab.core.counted import counted
from lab.core.errors import CheckFailed, NotReady
from lab.host.processes import pasteable

if TYPE_CHECKING:
    from lab.cli.asked import Asked
    from lab.core.fleet import Fleet
    from lab.harness.series import Series

_SHOWN_SLOWEST: Final = 3


def print_json(series: "Series") -> None:
    """Print the contract for tools."""
    click.echo(json.dumps(series.as_json(), indent=2, ensure_ascii=False))


def conclude(series: "Series", asked: "Asked") -> None:
    """Say what came of them.

    Raises `CheckFailed` where one did not hold, and `NotReady` where none could run at all.
    """
    if series.skipped and not series.ended:
        raise _none_ran(series, asked)
    click.echo(summary(series), err=True)
    if served := _served_elsewhere(series):
        told = f"{served} can run on a lab that is made for the run"
        click.echo(f"{told}:\n  $ {asked.elsewhere()}", err=True)
    if (before := series.venue.before) and series.venue.has_another_fleet:
        click.echo(_another_fleet(series.venue.name, before), err=True)
    unsteady = series.unsteady()
    if not unsteady:
        return
    failed = [name for name, _, _ in unsteady]
    number = counted(len({each.name for each in series.ended}), "scenario")
    in_order = asked.repeat > 1 or asked.seed is not None
    raise CheckFailed(
        f"{len(failed)} of {number} did not hold: {', '.join(failed)}",
        where=str(series.of.folder),
        seen="\n".join(
            f"{name}: {times} of {ran} did not hold" for name, times, ran in unsteady if ran > 1
        ),
        remedy="read what was kept of it, and run it again",
        commands=(
            pasteable(("gpulab", "report", str(series.of.folder))),
            *((asked.again(),) if in_order else ()),
            asked.alone(failed[0]),
        ),
    )


def summary(series: "Series") -> str:
    """Return one line: how many held, did not or were skipped, and what took longest."""
    held = sum(each.ok for each in series.ended)
    numbers = [f"{counted(held, 'run')} held"]
    if held < len(series.ended):
        numbers.append(f"{len(series.ended) - held} did not")
    if series.skipped:
        numbers.append(f"{counted(len(series.skipped), 'scenario')} skipped")
    took: dict[str, float] = {}
    for each in series.ended:
        took[each.name] = max(each.seconds, took.get(each.name, 0))
    slowest = sorted(took.items(), key=lambda each: -each[1])[:_SHOWN_SLOWEST]
    told = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in slowest)
    return f"{', '.join(numbers)}; slowest: {told}"


def _another_fleet(lab: str, before: "Fleet") -> str:
    pools = ", ".join(f"{each.name} ({counted(each.nodes, 'node')})" for each in before.pools)
    return (
        f"the lab {lab!r} has now the fleet of the last scenario, in place of one of {pools}; to "
        "put another one on it, or without --fleet the chapter's:\n"
        f"  $ gpulab up --name {lab} --fleet FILE"
    )


def _none_ran(series: "Series", asked: "Asked") -> NotReady:
    number, served = counted(len(series.skipped), "scenario"), _served_elsewhere(series)
    return NotReady(
        f"none of {number} could run on the lab {series.venue.name!r}",
        seen="\n".join(f"{name}: {each.reason}" for name, each in series.skipped.items()),
        remedy=f"have a lab made for the run: {served} can run on it"
        if served
        else "choose scenarios that need none of it; the list says what each needs",
        commands=(asked.elsewhere() if served else "gpulab list --output json",),
    )


def _served_elsewhere(series: "Series") -> str:
    """Return how many of those that were skipped a lab of their own can serve, "" for none."""
    number = sum(each.can_be_served for each in series.skipped.values())
    return f"{number} of {counted(len(series.skipped), 'skipped scenario')}" if number else ""
