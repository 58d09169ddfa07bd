"""`gpulab timeline`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lab.cli.options import language_option, name_option, output_option

if TYPE_CHECKING:
    from lab.core.language import Language


@click.command()
@click.argument("pod")
@click.option("--namespace", default="default", show_default=True, help="The namespace of the pod.")
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw it into this file, which is replaced.",
)
@language_option("The language of text and picture.")
@name_option
@output_option
def timeline(  # noqa: PLR0913, PLR0917 - one for each option
    pod: str, namespace: str, svg: Path | None, language: "Language", name: str, output: str
) -> None:
    """Show in nine steps how a pod came to its devices.

    From the plugin's scan of the node to what the container sees, each with its time, who took it,
    and where that is known from. Of a Deployment, name one of its pods.
    """
    from lab.cli.site import this_site
    from lab.harness.timeline import timeline_of
    from lab.harness.timeline.reading import require_pod
    from lab.harness.timeline.text import lines
    from lab.install.status import running_lab

    lab = running_lab(this_site(), name)
    require_pod(lab, namespace, pod)
    found = timeline_of(lab, namespace, pod)
    if svg:
        from lab.cli.document import write
        from lab.harness.timeline.picture import picture

        write(picture(found, language), svg, "the picture")
    if output == "json":
        click.echo(json.dumps(found.as_json(), indent=2, ensure_ascii=False))
        return
    for line in lines(found, language):
        click.echo(line)
