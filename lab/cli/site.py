"""What every command that touches this machine starts from."""

from functools import partial

import click

from lab.cli.console import progress_for
from lab.cli.program import of_another_lab
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.install.site import Site


def this_site() -> Site:
    """Return the means of this process: its children, its folders, its terminal, its name."""
    context = click.get_current_context()
    again = partial(of_another_lab, context.obj) if context.obj else None
    return Site(Processes(), Folders.of(), progress_for(), context.command_path, again=again)
