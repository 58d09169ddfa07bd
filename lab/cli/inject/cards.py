"""`gpulab inject unplug`, `plug` and `add`."""

from typing import TYPE_CHECKING

import click

from lab.cli.inject.session import Session, on_nodes
from lab.cli.options import Whole
from lab.core.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.cluster.plugin.cards import CardsMoved


@click.command()
@click.argument("devices", nargs=-1, required=True, metavar="DEVICE...")
@on_nodes
def unplug(devices: tuple[str, ...], node: tuple[str, ...], name: str, output: str) -> None:
    """Take the cards of devices out of their nodes."""
    Session(name, node, output).ask(lambda plugin: plugin.unplug(*devices), _told("unplugged"))


@click.command()
@click.argument("devices", nargs=-1, required=True, metavar="DEVICE...")
@on_nodes
def plug(devices: tuple[str, ...], node: tuple[str, ...], name: str, output: str) -> None:
    """Put cards back that were unplugged."""
    Session(name, node, output).ask(lambda plugin: plugin.plug(*devices), _told("plugged"))


@click.command()
@click.argument("number", type=Whole(1, 100_000))
@click.option("--pool", required=True, help="The pool that gets them, on each of its nodes.")
@on_nodes
def add(number: int, pool: str, node: tuple[str, ...], name: str, output: str) -> None:
    """Add cards to the nodes of a pool, beyond its count."""
    Session(name, node, output).ask(
        lambda plugin: plugin.add(pool, number),
        lambda done: f"{counted(done.count, 'card')} added to pool {done.pool}",
    )


def _told(done: str) -> "Callable[[CardsMoved], str]":
    return lambda moved: f"{counted(moved.count, 'card')} {done}: {', '.join(moved.cards)}"
