"""`gpulab inject unhealthy`, `healthy` and `flap`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, Unpack

import click

from fake_plugin.hardware.breakage import DOUBLE_BIT, SINGLE_BIT
from lab.cli.inject.session import Duration, Session, on_nodes
from lab.cli.options import Whole
from lab.core.counted import counted

if TYPE_CHECKING:
    from lab.cluster.plugin.health import HealthChanged, Reason

Command = TypeVar("Command", bound=Callable[..., None])


def reasons(command: Command) -> Command:
    """Give a command the options for why a card breaks."""
    for option in (
        click.option("--code", metavar="HEX", help="An Ascend fault code, such as 80E01801."),
        click.option("--ecc", type=click.Choice([SINGLE_BIT, DOUBLE_BIT]), help="An ECC error."),
        click.option("--xid", type=Whole(min=1), help="The number of an NVIDIA Xid."),
    ):
        command = option(command)
    return command


devices_argument = click.argument("devices", nargs=-1, metavar="DEVICE...")
all_option = click.option("--all", "all_devices", is_flag=True, help="All devices of the nodes.")


@click.command()
@devices_argument
@all_option
@reasons
@on_nodes
def unhealthy(
    *,
    devices: tuple[str, ...],
    all_devices: bool,
    node: tuple[str, ...],
    name: str,
    output: str,
    **reason: "Unpack[Reason]",
) -> None:
    """Break devices, until they are mended; a restart does not mend them."""
    from lab.cluster.plugin.health import HealthChange, breakage

    target = _target(devices, everything=all_devices)
    change = HealthChange(target, "unhealthy", breakage(**reason))
    Session(name, node, output).ask(lambda plugin: plugin.change_health(change), _told)


@click.command()
@devices_argument
@all_option
@on_nodes
def healthy(
    *, devices: tuple[str, ...], all_devices: bool, node: tuple[str, ...], name: str, output: str
) -> None:
    """Mend devices."""
    from lab.cluster.plugin.health import HealthChange

    change = HealthChange(_target(devices, everything=all_devices), "healthy")
    Session(name, node, output).ask(lambda plugin: plugin.change_health(change), _told)


@click.command()
@devices_argument
@all_option
@click.option("--times", type=Whole(1, 10_000), required=True, help="How many changes.")
@click.option(
    "--every",
    type=Duration(),
    required=True,
    metavar="TIME",
    help="Between two, such as 100ms or 5s.",
)
@reasons
@on_nodes
def flap(  # noqa: PLR0913 - one per option
    *,
    devices: tuple[str, ...],
    all_devices: bool,
    times: int,
    every: float,
    node: tuple[str, ...],
    name: str,
    output: str,
    **reason: "Unpack[Reason]",
) -> None:
    """Break and mend devices in turn, on their node; the command does not wait for the end."""
    from lab.cluster.plugin.health import HealthChange, breakage
    from lab.core.fleet.wording import duration

    target = _target(devices, everything=all_devices)
    change = HealthChange(target, "toggled", breakage(**reason), times, every)
    Session(name, node, output).ask(
        lambda plugin: plugin.change_health(change),
        lambda done: (
            f"{counted(done.count, 'device')} will change {times} times, every "
            f"{duration(every)}: {', '.join(done.units)}"
        ),
    )


def _target(devices: tuple[str, ...], *, everything: bool) -> tuple[str, ...] | None:
    if bool(devices) == everything:
        raise click.UsageError("name devices, or give --all: one of the two")
    return None if everything else devices


def _told(done: "HealthChanged") -> str:
    devices = f"{counted(done.count, 'device')} {done.becomes}"
    reason = f" ({done.breakage})" if done.breakage else ""
    notes = ""
    if done.ignored:
        notes = "; the vendor's plugin does not count this, and calls them healthy"
    elif done.sticky and done.becomes == "healthy":
        notes = "; the policy is sticky: the plugin calls them unhealthy until it restarts"
    return f"{devices}{reason}: {', '.join(done.units)}{notes}"
