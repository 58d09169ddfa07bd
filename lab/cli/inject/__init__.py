"""`gpulab inject`: a group of commands, each a call of the plugins' control API."""

import click

from lab.cli.inject.calls import crash, fault, remove_socket
from lab.cli.inject.cards import add, plug, unplug
from lab.cli.inject.health import flap, healthy, unhealthy
from lab.cli.inject.overview import clear, list_all


@click.group()
def inject() -> None:
    """Break devices and calls, and mend them.

    A DEVICE is an ID, the name of a card or partition, or POOL/INDEX; INDEX alone where its node
    has one pool. Without --node, all nodes of the fleet that have it.
    """


for command in (
    unhealthy,
    healthy,
    flap,
    unplug,
    plug,
    add,
    fault,
    remove_socket,
    crash,
    list_all,
    clear,
):
    inject.add_command(command)
