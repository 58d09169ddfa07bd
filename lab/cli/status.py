"""`gpulab status`."""

from typing import TYPE_CHECKING

import click

from lab.cli.options import name_option, output_option

if TYPE_CHECKING:
    from lab.install.status import LabStatus


@click.command()
@name_option
@output_option
def status(name: str, output: str) -> None:
    """Show the nodes, their devices and the plugins."""
    from lab.cli.site import this_site
    from lab.cli.table import print_status
    from lab.install.status import observe, running_lab

    seen = observe(running_lab(this_site(), name))
    print_status(seen, output)
    refuse_unready(seen)


def refuse_unready(seen: "LabStatus") -> None:
    """Raise `CheckFailed`, after the status was printed, for a lab that is not ready."""
    from lab.core.errors import CheckFailed

    if not seen.ready:
        raise CheckFailed(
            f"the lab {seen.name!r} is not ready",
            remedy="see what is broken on purpose, and what the plugins and the machine say",
            commands=(
                f"gpulab inject list --name {seen.name}",
                f"gpulab logs --name {seen.name}",
                "gpulab doctor",
            ),
        )
