"""`gpulab down`."""

import click

from lab.cli.options import name_option


@click.command()
@name_option
def down(name: str) -> None:
    """Remove the lab and everything that it made."""
    from lab.cli.site import this_site
    from lab.install.down import take_down

    if not take_down(name, this_site()):
        click.echo(f"there is no lab {name!r}: nothing to remove", err=True)
