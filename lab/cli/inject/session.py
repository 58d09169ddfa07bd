"""What the commands of `gpulab inject` have in common: ask nodes, say what came of it, go on."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from lab.cli.options import DEFAULT_NAME, name_option, node_option, output_option
from lab.core.errors import UsageError

if TYPE_CHECKING:
    from lab.cluster.plugin.node_plugin import NodePlugin
    from lab.install.seats import Outcome

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

    def ask(
        self,
        asking: "Callable[[NodePlugin], Answer]",
        told: Callable[[Answer], str],
        following: Sequence[str] = ("inject list", "inject clear"),
    ) -> None:
        """Ask the nodes; print a line for each that did it, and commands to go on with.

        Raises, after that is printed, where a node has not done it: the error names those nodes,
        once. Nodes that were skipped come last, since nothing has become of them.
        """
        self._run(asking, lambda title, done: [f"{title}: {told(done)}"], lambda _: following)

    def show(
        self,
        asking: "Callable[[NodePlugin], Answer]",
        told: Callable[[Answer], Iterable[str]],
        following: Callable[[Sequence[Answer]], Sequence[str]],
    ) -> None:
        """Ask the nodes; print several lines for each, and commands to go on with after all."""

        def lines(title: str, found: Answer) -> Iterator[str]:
            yield f"{title}:"
            yield from (f"  {line}" for line in told(found))

        self._run(asking, lines, following)

    def _run(
        self,
        asking: "Callable[[NodePlugin], Answer]",
        lines: Callable[[str, Answer], Iterable[str]],
        following: Callable[[Sequence[Answer]], Sequence[str]],
    ) -> None:
        from lab.cli.site import this_site
        from lab.install.seats import Done, ask, require_done, seats
        from lab.install.status import running_lab

        lab = running_lab(this_site(), self.name)
        outcomes = ask(lab, seats(lab, self.nodes), asking, named=bool(self.nodes))
        if self.output == "json":
            click.echo(json.dumps({"nodes": [each.as_json() for each in outcomes]}, indent=2))
        else:
            _print(outcomes, lines)
        require_done(outcomes)
        if self.output == "text":
            click.echo("\nNext:")
            answers = [each.answer for each in outcomes if isinstance(each, Done)]
            for command in following(answers):
                click.echo(f"  {self._command(command)}")

    def _command(self, text: str) -> str:
        from lab.cli.program import program

        named = "" if self.name == DEFAULT_NAME else f" --name {self.name}"
        return f"{program()} {text}{named}"


def _print(
    outcomes: "Sequence[Outcome[Answer]]", lines: Callable[[str, Answer], Iterable[str]]
) -> None:
    from lab.install.seats import Done, Undone

    for each in outcomes:
        if isinstance(each, Done):
            for line in lines(each.seat.title, each.answer):
                click.echo(line)
    for each in outcomes:
        if isinstance(each, Undone) and each.skipped:
            click.echo(f"{each.seat.title}: skipped: {each.error.what}")
