"""Options that several commands share, so that they read the same everywhere."""

import math
import re
from collections.abc import Callable
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


def finite(ctx: click.Context, parameter: click.Parameter, value: float) -> float:  # noqa: ARG001
    """Return the seconds: no range keeps `nan` out, and none without an end `inf`."""
    if not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a number of seconds")
    return value


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


def language_option(text: str) -> Callable[[Command], Command]:
    """Return the option of a language, with what is in it."""
    return click.option(
        "--language", type=click.Choice(LANGUAGES), default="en", show_default=True, help=text
    )
