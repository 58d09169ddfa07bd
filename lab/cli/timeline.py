"""`gpulab timeline`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.core import ParameterSource

from lab.cli.options import DEFAULT_NAME, language_option, name_option, output_option

if TYPE_CHECKING:
    from lab.core.language import Language
    from lab.install.status import RunningLab


#: By what kubectl calls pods before the name of one.
_KUBECTLS: Final = ("pod", "pods", "po")


@click.command()
@click.argument("pod", metavar="[NAMESPACE/]POD")
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
    from lab.harness.timeline import timeline_of
    from lab.harness.timeline.reading import require_pod
    from lab.harness.timeline.text import lines

    namespace, pod = _named(pod, namespace)
    lab = _lab(name)
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


def _named(pod: str, namespace: str) -> tuple[str, str]:
    """Return the namespace and the name of a pod, written as `p`, `pod/p` or `namespace/p`."""
    before, _, name = pod.rpartition("/")
    if before in {"", *_KUBECTLS}:
        return namespace, name
    if "/" in before:
        raise click.UsageError(f"POD {pod}: write NAMESPACE/POD, or POD")
    if _is_typed("namespace") and before != namespace:
        raise click.UsageError(f"{pod} is in {before}, and --namespace says {namespace}")
    return before, name


def _lab(name: str) -> "RunningLab":
    """Return the lab; where there is none of the name, kubectl's `-n` may have been meant."""
    from lab.cli.site import this_site
    from lab.cluster.record import LabFolder
    from lab.install.status import NoLab, running_lab

    site = this_site()
    try:
        return running_lab(site, name)
    except NoLab as error:
        if _is_typed("name") and not _is_typed("namespace"):
            error.remedy = f"-n is the lab, and the namespace is --namespace; {error.remedy}"
            there = LabFolder.names(site.folders)
            lab = DEFAULT_NAME if DEFAULT_NAME in there else next(iter(there), "")
            if site.again and lab:
                error.commands = (site.again(lab, "--namespace", name), *error.commands)
        raise


def _is_typed(parameter: str) -> bool:
    source = click.get_current_context().get_parameter_source(parameter)
    return source is ParameterSource.COMMANDLINE
