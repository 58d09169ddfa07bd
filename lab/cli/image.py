"""`gpulab image`."""

import json
import shlex
from typing import TYPE_CHECKING

import click

from lab.cli.options import output_option

if TYPE_CHECKING:
    from lab.images.node import NodeImage


@click.group()
def image() -> None:
    """Build the images that a lab runs on."""


@image.command("build-node")
@output_option
def build_node(output: str) -> None:
    """Build a kind node image from source, for where no registry answers.

    The first build takes about 25 minutes on 2 cores and 9 GiB of disk; it needs a Go module
    proxy, PyPI and a Debian mirror. A build that was stopped goes on where it was.
    """
    from lab.cli.site import this_site
    from lab.images.node import build_node_image

    site = this_site()
    built = build_node_image(site.processes, site.folders, site.progress)
    if output == "json":
        click.echo(json.dumps(_facts(built)))
        return
    click.echo(f"{built.reference}  {built.size / 1e6:.0f} MB, Kubernetes {built.kubernetes}")
    click.echo(f"what went into it: {built.manifest}")
    click.echo("\nNext:\n  gpulab up")


@image.command("build-plugin")
@output_option
def build_plugin(output: str) -> None:
    """Build the device plugin's image, for a registry that your own cluster pulls from."""
    from lab.cli.program import program
    from lab.cli.site import this_site
    from lab.images.plugin import build_plugin_image

    site = this_site()
    built = build_plugin_image(site.processes, site.folders, site.progress)
    if output == "json":
        facts = {"reference": built.reference, "bytes": built.size, "archive": str(built.archive)}
        click.echo(json.dumps(facts, indent=2))
        return
    click.echo(f"{built.reference}  {built.size / 1e6:.0f} MB")
    click.echo("\nNext, with a place in your registry for REF:")
    click.echo(f"  docker load --input {shlex.quote(str(built.archive))}")
    click.echo(f"  docker tag {built.reference} REF")
    click.echo("  docker push REF")
    click.echo(f"  {program()} up --kubeconfig FILE --plugin-image REF")


@image.command("build-operator")
@output_option
def build_operator(output: str) -> None:
    """Build NVIDIA's GPU operator from source, with its validator, its chart, and helm.

    Of what the operator deploys, the validator alone is there: no other operand is to be had as a
    Go module. The first build takes about 12 minutes on 2 cores; it needs a Go module proxy and a
    Debian mirror. A build that was stopped goes on where it was.
    """
    from lab.cli.site import this_site
    from lab.images.operator import build_operator

    site = this_site()
    built = build_operator(site.processes, site.folders, site.progress)
    if output == "json":
        facts = {
            "release": built.release,
            "helm": str(built.helm),
            "chart": str(built.chart),
            "archive": str(built.archive),
            "images": {each.component: each.reference for each in built.images},
        }
        click.echo(json.dumps(facts, indent=2))
        return
    click.echo(f"GPU operator {built.release}, its chart in {built.chart}")
    archive, helm, chart = map(shlex.quote, map(str, (built.archive, built.helm, built.chart)))
    click.echo("\nNext, for each node of a lab, and then once:")
    click.echo(f"  docker exec -i NODE ctr --namespace k8s.io images import - < {archive}")
    click.echo(
        f"  {helm} install gpu-operator {chart} --namespace gpu-operator --create-namespace \\"
    )
    click.echo("    --set nfd.enabled=false --set driver.enabled=false --set toolkit.enabled=false")


def _facts(built: "NodeImage") -> dict[str, str | int]:
    return {
        "reference": built.reference,
        "bytes": built.size,
        "kubernetes": built.kubernetes,
        "manifest": str(built.manifest),
    }
