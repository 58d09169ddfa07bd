"""Options that several commands share, so that they read the same everywhere."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import click

from lab.core.language import LANGUAGES

Command = TypeVar("Command", bound=Callable[..., object])

DEFAULT_NAME: Final = "gpu-lab"
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?")


def _checked_name(ctx: click.Context, parameter: click.Parameter, value: str) -> str:  # noqa: ARG001
    # kind makes host names of it (`<name>-control-plane`), which end at 63 characters.
    if not _NAME.fullmatch(value):
        raise click.BadParameter(
            f"{value!r}: use 1 to 32 lower-case letters, digits and '-', with a letter or digit "
            "at both ends"
        )
    return value


class Whole(click.IntRange):
    """A whole number in a range; who writes another one is told the range."""

    def convert(self, value: int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        try:
            found: int = super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} must be a whole number {_within(self)}", param, ctx)
        return found


class Number(click.FloatRange):
    """A number in a range, as `Whole`."""

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number."""
        try:
            found: float = super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} must be a number {_within(self)}", param, ctx)
        return found


def _within(found: click.IntRange | click.FloatRange) -> str:
    return f"of {found.min} or more" if found.max is None else f"from {found.min} to {found.max}"


def _finite(ctx: click.Context, parameter: click.Parameter, value: float) -> float:  # noqa: ARG001
    """Return the seconds: no range keeps `nan` out, and none without an end `inf`."""
    if not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a number of seconds")
    return value


def _names(ctx: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:  # noqa: ARG001
    return tuple(name for each in (value or "").split(",") if (name := each.strip()))


name_option = click.option(
    "-n",
    "--name",
    default=DEFAULT_NAME,
    show_default=True,
    envvar="GPULAB_NAME",
    callback=_checked_name,
    help="The lab's name; labs with different names live side by side.",
)

output_option = click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What to print on stdout.",
)

node_option = click.option(
    "--node",
    multiple=True,
    help="A node, by its name in fleet or cluster; may be repeated. Default: all of the fleet.",
)


def timeout_option(seconds: float, text: str) -> Callable[[Command], Command]:
    """Return the option of how long something may take, with how long it may by default."""
    return click.option(
        "--timeout",
        type=Number(min=1),
        callback=_finite,
        default=seconds,
        show_default=True,
        help=text,
    )


def language_option(text: str) -> Callable[[Command], Command]:
    """Return the option of a language, with what is in it."""
    return click.option(
        "--language", type=click.Choice(LANGUAGES), default="en", show_default=True, help=text
    )


#: Of a lab that is to be made: which nodes of kind, or which cluster that is there.
_MADE_OF: Final = (
    click.option(
        "--node-image", help="The image for the nodes. Default: one built here, else kind's own."
    ),
    click.option(
        "--kubeconfig",
        type=click.Path(dir_okay=False, path_type=Path),
        help="The kubeconfig of a cluster that is there. It is copied, and never changed.",
    ),
    click.option("--context", help="A context of the kubeconfig. Default: its current one."),
    click.option(
        "--nodes",
        callback=_names,
        help="The nodes that the lab may have, with commas in between. Default: all workers.",
    ),
    click.option(
        "--plugin-image",
        help="Where nodes that are no kind containers of this machine pull the plugin's image "
        "from.",
    ),
)


def cluster_options(command: Command) -> Command:
    """Give a command the options of the cluster that a lab is made on."""
    for option in reversed(_MADE_OF):
        command = option(command)
    return command
