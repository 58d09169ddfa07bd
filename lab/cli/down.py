"""`gpulab down`."""

import click

from lab.cli.options import name_option


@click.command()
@name_option
def down(name: str) -> None:
    """Remove the lab and everything that it made."""
    from lab.cli.site import this_site
    from lab.cluster.record import LabFolder
    from lab.install.down import take_down

    site = this_site()
    if not take_down(name, site):
        click.echo(f"there is no lab {name!r}: nothing to remove", err=True)
        if there := LabFolder.names(site.folders):
            click.echo(f"labs that there are: {', '.join(there)}", err=True)
