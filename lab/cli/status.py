"""`gpulab status`."""

import click

from lab.cli.options import name_option, output_option


@click.command()
@name_option
@output_option
def status(name: str, output: str) -> None:
    """Show the nodes, their devices and the plugins."""
    from lab.cli.site import this_site
    from lab.cli.table import print_status
    from lab.core.errors import CheckFailed
    from lab.install.status import observe, running_lab

    seen = observe(running_lab(this_site(), name))
    print_status(seen, output)
    if not seen.ready:
        raise CheckFailed(
            f"the lab {name!r} is not ready",
            remedy="see what the plugins and the machine say",
            commands=(f"gpulab logs --name {name}", "gpulab doctor"),
        )
