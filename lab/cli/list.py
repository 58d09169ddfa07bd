"""`gpulab list`."""

import json
from collections import Counter
from typing import TYPE_CHECKING

import click

from lab.cli.options import language_option, output_option

if TYPE_CHECKING:
    from lab.core.language import Language


@click.command("list")
@click.option("--section", multiple=True, help="Those of a section of the chapter, and below it.")
@click.option("--tag", multiple=True, help="Those with this tag.")
@language_option("Of titles.")
@output_option
def list_(
    section: tuple[str, ...], tag: tuple[str, ...], language: "Language", output: str
) -> None:
    """Show the scenarios."""
    from lab.harness.collection import chosen

    found = chosen((), section, tag)
    if output == "json":
        told = [
            {
                "name": each.name,
                "section": each.section,
                "fleet": each.fleet,
                "titles": each.titles,
                "reasons": each.reasons,
                "tags": sorted(each.tags),
                "needs": sorted(each.needs),
                "slow": each.slow,
                "erratum": each.erratum or None,
            }
            for each in found
        ]
        click.echo(json.dumps({"scenarios": told}, indent=2, ensure_ascii=False))
        return
    width = max(len(each.name) for each in found)
    for each in found:
        click.echo(f"{each.section:<8} {each.name:<{width}}  {each.titles[language]}")
    tags = Counter(one for each in found for one in each.tags)
    click.echo(f"\ntags: {', '.join(f'{name} ({count})' for name, count in sorted(tags.items()))}")
