"""A lab's status for people (a table) and for tools (the JSON contract), on stdout."""

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from lab.install.status import LabStatus


def print_status(status: "LabStatus", output: str) -> None:
    """Print the status as `text` or `json`."""
    if output == "json":
        click.echo(json.dumps(status.as_json(), indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    state = "ready" if status.ready else "not ready"
    click.echo(f"lab {status.name}: {state} ({status.backend}, Kubernetes {status.kubernetes})")
    table = Table(box=None, pad_edge=False, header_style="")
    for column in ("NODE", "STATUS", "POOL", "RESOURCE"):
        table.add_column(column, no_wrap=True)
    for column in ("CAPACITY", "ALLOCATABLE", "REQUESTED"):
        table.add_column(column, justify="right", no_wrap=True)
    for node in status.nodes:
        first = (node.name, "Ready" if node.ready else "NotReady", node.pool or "-")
        for resource, devices in node.resources.items():
            counts = (devices.capacity, devices.allocatable, devices.requested)
            table.add_row(*first, resource, *map(str, counts))
        if not node.resources:
            table.add_row(*first, "-", "-", "-", "-")
    Console(highlight=False, soft_wrap=True).print(table)
