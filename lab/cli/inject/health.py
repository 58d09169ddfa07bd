"""`gpulab inject unhealthy`, `healthy` and `flap`."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from lab.cli.inject.session import Json, Session, counted, on_nodes

Command = TypeVar("Command", bound=Callable[..., None])

#: The words of the fleet file.
ECC = ("single-bit", "double-bit")


def reasons(command: Command) -> Command:
    """Give a command the options for why a card breaks."""
    for option in (
        click.option("--code", metavar="HEX", help="An Ascend fault code, such as 80E01801."),
        click.option("--ecc", type=click.Choice(ECC), help="An ECC error."),
        click.option("--xid", type=click.IntRange(min=1), help="The number of an NVIDIA Xid."),
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
def unhealthy(  # noqa: PLR0913, PLR0917 - one per option
    devices: tuple[str, ...],
    all_devices: bool,  # noqa: FBT001 - click's shape
    xid: int | None,
    ecc: str | None,
    code: str | None,
    node: tuple[str, ...],
    name: str,
    output: str,
) -> None:
    """Break devices, until they are mended; a restart does not mend them."""
    body = {
        **_target(devices, everything=all_devices),
        **_reason(xid, ecc, code),
        "becomes": "unhealthy",
    }
    Session(name, node, output).ask(lambda api: api.post("/v1/health", body), _told)


@click.command()
@devices_argument
@all_option
@on_nodes
def healthy(
    devices: tuple[str, ...],
    all_devices: bool,  # noqa: FBT001 - click's shape
    node: tuple[str, ...],
    name: str,
    output: str,
) -> None:
    """Mend devices."""
    body = {**_target(devices, everything=all_devices), "becomes": "healthy"}
    Session(name, node, output).ask(lambda api: api.post("/v1/health", body), _told)


@click.command()
@devices_argument
@all_option
@click.option("--times", type=click.IntRange(1, 10_000), required=True, help="How many changes.")
@click.option("--every", required=True, metavar="TIME", help="Between two, such as 100ms or 5s.")
@reasons
@on_nodes
def flap(  # noqa: PLR0913, PLR0917 - one per option
    devices: tuple[str, ...],
    all_devices: bool,  # noqa: FBT001 - click's shape
    times: int,
    every: str,
    xid: int | None,
    ecc: str | None,
    code: str | None,
    node: tuple[str, ...],
    name: str,
    output: str,
) -> None:
    """Break and mend devices in turn, on their node; the command does not wait for the end."""
    body = {
        **_target(devices, everything=all_devices),
        **_reason(xid, ecc, code),
        "becomes": "toggled",
        "times": times,
        "every": every,
    }
    Session(name, node, output).ask(
        lambda api: api.post("/v1/health", body),
        lambda result: (
            f"{counted(result['count'], 'device')} will change {times} times, every "
            f"{every}: {', '.join(result['units'])}"
        ),
    )


def _target(devices: tuple[str, ...], *, everything: bool) -> dict[str, Any]:
    if bool(devices) == everything:
        raise click.UsageError("name devices, or give --all: one of the two")
    return {"all": True} if everything else {"devices": list(devices)}


def _reason(xid: int | None, ecc: str | None, code: str | None) -> dict[str, Any]:
    given = {"xid": xid, "ecc": ecc, "code": code}
    said = {key: value for key, value in given.items() if value is not None}
    if len(said) > 1:
        raise click.UsageError("give one of --xid, --ecc and --code")
    return said


def _told(result: Json) -> str:
    devices = f"{counted(result['count'], 'device')} {result['becomes']}"
    reason = f" ({result['breakage']})" if result["breakage"] else ""
    notes = ""
    if result["ignored"]:
        notes = "; the vendor's plugin does not count this, and calls them healthy"
    elif result["sticky"] and result["becomes"] == "healthy":
        notes = "; the policy is sticky: the plugin calls them unhealthy until it restarts"
    return f"{devices}{reason}: {', '.join(result['units'])}{notes}"
