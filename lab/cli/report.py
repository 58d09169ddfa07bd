"""`gpulab report`."""

import sys
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
@language_option("The language of the page.")
def report(folder: Path, output: Path | None, language: "Language") -> None:
    """Make one page of HTML of the results of tests or scenarios.

    DIR is the folder that they were written to. The page needs nothing but itself, so it can be
    sent to somebody; only its links to whole files need the folder beside it.
    """
    from lab.cli.document import write
    from lab.harness.report import page
    from lab.harness.results import results_in

    file = output or folder / _PAGE
    write(page(results_in(folder), language, file.parent), file, "the page", (_ELSEWHERE,))
    click.echo(file)
    opener = "open" if sys.platform == "darwin" else "xdg-open"
    click.echo(f"  $ {opener} {file.absolute().as_uri()}", err=True)
