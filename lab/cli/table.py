"""A lab's status for people (a table) and for tools (the JSON contract), on stdout."""

import json
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from rich.table import Table

    from lab.install.status import LabStatus


_WIDE: Final = 1000


def print_status(status: "LabStatus", output: str) -> None:
    """Print the status as `text` or `json`."""
    if output == "json":
        click.echo(json.dumps(status.as_json(), indent=2))
        return
    from rich.table import Table

    state = "ready" if status.ready else "not ready"
    click.echo(f"lab {status.name}: {state} ({status.backend}, Kubernetes {status.kubernetes})")
    table = Table(box=None, pad_edge=False, header_style="")
    for column in ("NODE", "STATUS", "POOL", "RESOURCE"):
        table.add_column(column, no_wrap=True)
    for column in ("CAPACITY", "ALLOCATABLE", "REQUESTED"):
        table.add_column(column, justify="right", no_wrap=True)
    for node in status.nodes:
        first = (node.name, "Ready" if node.ready else "NotReady")
        for resource, devices in node.resources.items():
            counts = (devices.capacity, devices.allocatable, devices.requested)
            table.add_row(*first, node.pool_of(resource), resource, *map(str, counts))
        if not node.resources:
            table.add_row(*first, node.pool or "-", "-", "-", "-", "-")
    click.echo(as_wide_as_needed(table))


def as_wide_as_needed(table: "Table") -> str:
    """Return the table as text, never cut to a terminal's width: names are there to be pasted."""
    from rich.console import Console

    console = Console(width=_WIDE, highlight=False, markup=False, emoji=False, color_system=None)
    with console.capture() as text:
        console.print(table)
    return "\n".join(line.rstrip() for line in text.get().splitlines())
