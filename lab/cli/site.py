"""What every command that touches this machine starts from."""

import click

from lab.cli.console import progress_for
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.install.site import Site


def this_site() -> Site:
    """Return the means of this process: its children, its folders, its terminal, its name."""
    command = click.get_current_context().command_path
    return Site(Processes(), Folders.of(), progress_for(), command)
