"""`gpulab inject unplug`, `plug` and `add`."""

from collections.abc import Callable

import click

from lab.cli.inject.session import Json, Session, counted, on_nodes


@click.command()
@click.argument("devices", nargs=-1, required=True, metavar="DEVICE...")
@on_nodes
def unplug(devices: tuple[str, ...], node: tuple[str, ...], name: str, output: str) -> None:
    """Take the cards of devices out of their nodes."""
    body = {"unplug": list(devices)}
    Session(name, node, output).ask(lambda api: api.post("/v1/cards", body), _told("unplugged"))


@click.command()
@click.argument("devices", nargs=-1, required=True, metavar="DEVICE...")
@on_nodes
def plug(devices: tuple[str, ...], node: tuple[str, ...], name: str, output: str) -> None:
    """Put cards back that were unplugged."""
    body = {"plug": list(devices)}
    Session(name, node, output).ask(lambda api: api.post("/v1/cards", body), _told("plugged"))


@click.command()
@click.argument("number", type=click.IntRange(1, 100_000))
@click.option("--pool", required=True, help="The pool that gets them, on each of its nodes.")
@on_nodes
def add(number: int, pool: str, node: tuple[str, ...], name: str, output: str) -> None:
    """Add cards to the nodes of a pool, beyond its count."""
    body = {"add": {"pool": pool, "count": number}}
    Session(name, node, output).ask(
        lambda api: api.post("/v1/cards", body),
        lambda result: f"{counted(result['count'], 'card')} added to pool {result['pool']}",
    )


def _told(done: str) -> Callable[[Json], str]:
    return lambda result: f"{counted(result['count'], 'card')} {done}: {', '.join(result['cards'])}"
