"""`gpulab report`."""

import shlex
import sys
from os import fsencode
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from lab.cli.options import language_option

if TYPE_CHECKING:
    from lab.core.language import Language

_PAGE: Final = "report.html"
_ELSEWHERE: Final = "gpulab report lab-evidence --output report.html"


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file, which is replaced. Default: report.html in DIR.",
)
@click.option("--all-runs", is_flag=True, help="What earlier runs have left in DIR, too.")
@language_option("The language of the page.")
def report(
    folder: Path,
    output: Path | None,
    all_runs: bool,  # noqa: FBT001 - click's way to hand over a flag
    language: "Language",
) -> None:
    """Make one page of HTML of the results of tests or scenarios.

    DIR is the folder that they were written to; the page is of the last run alone. It needs
    nothing but itself, so it can be sent to somebody; only its links to whole files need the folder
    beside it.
    """
    from lab.cli.document import write
    from lab.core.counted import counted
    from lab.harness.report import page
    from lab.harness.results import newest_run, results_in

    file = output or folder / _PAGE
    found = results_in(folder)
    shown = found if all_runs else newest_run(found)
    left_out = len(found) - len(shown)
    text = page(shown, language, file.parent, left_out=left_out)
    write(text, file, "the page", (_ELSEWHERE,), anew=output is None)
    # A path may be any bytes, and is for programs as well.
    click.echo(fsencode(file))
    if left_out:
        told = counted(left_out, "result")
        click.echo(f"  {told} of earlier runs left out; with them:", err=True)
        click.echo(f"  $ gpulab report {shlex.quote(str(folder))} --all-runs", err=True)
    opener = "open" if sys.platform == "darwin" else "xdg-open"
    click.echo(f"  $ {opener} {file.absolute().as_uri()}", err=True)
