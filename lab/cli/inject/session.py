"""What the commands of `gpulab inject` have in common: ask nodes, say what came of it, go on."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from lab.cli.options import DEFAULT_NAME, name_option, node_option, output_option
from lab.core.errors import UsageError

if TYPE_CHECKING:
    from lab.cluster.plugin.node_plugin import NodePlugin
    from lab.install.seats import Outcome
    from lab.install.status import RunningLab

Answer = TypeVar("Answer")
Options = ParamSpec("Options")


def on_nodes(command: Callable[Options, None]) -> Callable[Options, None]:
    """Give a command the options of all that ask nodes, and have options called by their names."""

    @wraps(command)
    def spelled(*arguments: Options.args, **options: Options.kwargs) -> None:
        from lab.cluster.plugin.words import GiveOne

        try:
            command(*arguments, **options)
        except GiveOne as problem:
            names = [f"--{word}" for word in problem.words]
            raise click.UsageError(GiveOne.rule(names)) from problem

    return node_option(name_option(output_option(spelled)))


class Duration(click.ParamType[float]):
    """A time such as 500ms or 5s, in seconds."""

    name = "time"

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds."""
        from lab.cluster.plugin.words import seconds

        if isinstance(value, float):
            return value
        try:
            return seconds(value)
        except UsageError as problem:
            self.fail(problem.what, param, ctx)


@dataclass(frozen=True)
class Session:
    """The nodes that a command asks, and how it says what came of it."""

    name: str
    nodes: Sequence[str]
    output: str

    def ask(self, asking: "Callable[[NodePlugin], Answer]", told: Callable[[Answer], str]) -> None:
        """Ask the nodes; print a line for each that did it, and what to do next.

        Raises, after that is printed, where a node has not done it: the error names those nodes,
        once. Nodes that were skipped come last, since nothing has become of them.
        """
        outcomes = self.outcomes(asking)
        if self.output == "json":
            print_json(outcomes)
        else:
            for title, result in _results(outcomes):
                click.echo(f"{title}: {told(result)}")
            _print_skipped(outcomes)
        self.end(outcomes, "inject list", "inject clear")

    def show(
        self,
        asking: "Callable[[NodePlugin], Answer]",
        told: Callable[[Answer], Iterable[str]],
        *following: str,
    ) -> None:
        """Ask the nodes; print several lines for each, and these commands to go on with."""
        outcomes = self.outcomes(asking)
        if self.output == "json":
            print_json(outcomes)
        else:
            for title, result in _results(outcomes):
                click.echo(f"{title}:")
                for line in told(result):
                    click.echo(f"  {line}")
            _print_skipped(outcomes)
        self.end(outcomes, *following)

    def outcomes(self, asking: "Callable[[NodePlugin], Answer]") -> "list[Outcome[Answer]]":
        """Ask the nodes, side by side."""
        from lab.install.seats import ask, seats

        lab = self.lab()
        return ask(lab, seats(lab, self.nodes), asking, named=bool(self.nodes))

    def lab(self) -> "RunningLab":
        """Return the lab of that name."""
        from lab.cli.site import this_site
        from lab.install.status import running_lab

        return running_lab(this_site(), self.name)

    def end(self, outcomes: "Sequence[Outcome[Answer]]", *commands: str) -> None:
        """Print the commands to paste next, or raise for what was not done."""
        from lab.install.seats import require_done

        require_done(outcomes)
        if self.output == "text":
            click.echo("\nNext:")
            for command in commands:
                click.echo(f"  {self.command(command)}")

    def command(self, text: str) -> str:
        """Return a command of this lab, to paste."""
        from lab.cli.program import program

        named = "" if self.name == DEFAULT_NAME else f" --name {self.name}"
        return f"{program()} {text}{named}"


def print_json(outcomes: "Sequence[Outcome[Answer]]") -> None:
    """Print what came of it for tools."""
    click.echo(json.dumps({"nodes": [each.as_json() for each in outcomes]}, indent=2))


def _results(outcomes: "Sequence[Outcome[Answer]]") -> list[tuple[str, Answer]]:
    return [(each.seat.title, each.result) for each in outcomes if each.result is not None]


def _print_skipped(outcomes: "Sequence[Outcome[Answer]]") -> None:
    for each in outcomes:
        if each.skipped and each.error:
            click.echo(f"{each.seat.title}: skipped: {each.error.what}")
