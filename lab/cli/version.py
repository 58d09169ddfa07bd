"""`gpulab version`."""

import json
import platform

import click

from lab import __version__
from lab.cli.options import output_option


@click.command()
@output_option
def version(output: str) -> None:
    """Print the versions of the lab and what it pins."""
    from lab.core import pins
    from lab.images.node import versions

    facts = {
        "gpulab": __version__,
        "kind": f"{pins.KIND} or newer",
        "kubernetes": f"{versions.KUBERNETES} in a node image that is built here",
        "python": platform.python_version(),
    }
    if output == "json":
        click.echo(json.dumps(facts))
        return
    for name, text in facts.items():
        click.echo(f"{name}: {text}")
