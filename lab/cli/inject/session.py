"""What the commands of `gpulab inject` have in common: ask nodes, say what came of it, go on."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lab.cli.options import DEFAULT_NAME, name_option, node_option, output_option

if TYPE_CHECKING:
    from lab.cluster.plugin_api import PluginApi
    from lab.install.seats import Outcome
    from lab.install.status import RunningLab

Json = dict[str, Any]
Command = TypeVar("Command", bound=Callable[..., None])


def on_nodes(command: Command) -> Command:
    """Give a command the options of all that ask nodes."""
    return node_option(name_option(output_option(command)))


@dataclass(frozen=True)
class Session:
    """The nodes that a command asks, and how it says what came of it."""

    name: str
    nodes: Sequence[str]
    output: str

    def ask(self, asking: "Callable[[PluginApi], Json]", told: Callable[[Json], str]) -> None:
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
        asking: "Callable[[PluginApi], Json]",
        told: Callable[[Json], Iterable[str]],
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

    def outcomes(self, asking: "Callable[[PluginApi], Json]") -> "list[Outcome]":
        """Ask the nodes, side by side."""
        from lab.install.seats import ask, seats

        lab = self.lab()
        return ask(lab, seats(lab, self.nodes), asking, named=bool(self.nodes))

    def lab(self) -> "RunningLab":
        """Return the lab of that name."""
        from lab.cli.site import this_site
        from lab.install.status import running_lab

        return running_lab(this_site(), self.name)

    def end(self, outcomes: "Sequence[Outcome]", *commands: str) -> None:
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


def print_json(outcomes: "Sequence[Outcome]") -> None:
    """Print what came of it for tools."""
    click.echo(json.dumps({"nodes": [each.as_json() for each in outcomes]}, indent=2))


def _results(outcomes: "Sequence[Outcome]") -> list[tuple[str, Json]]:
    return [(each.seat.title, each.result) for each in outcomes if each.result is not None]


def _print_skipped(outcomes: "Sequence[Outcome]") -> None:
    for each in outcomes:
        if each.skipped and each.error:
            click.echo(f"{each.seat.title}: skipped: {each.error.what}")


def counted(number: int, noun: str) -> str:
    """Return a number of things, as `1 device` or `2 devices`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
