"""`gpulab logs`."""

import click

from lab.cli.options import Whole, name_option


@click.command()
@click.argument("node", required=False)
@name_option
@click.option("--tail", type=Whole(min=1), help="Only the last lines of each plugin.")
def logs(node: str | None, name: str, tail: int | None) -> None:
    """Print what the device plugins say.

    Each line is a JSON object. With NODE, only the plugin of that node.
    """
    from lab.cli.site import this_site
    from lab.core.errors import CheckFailed, UsageError
    from lab.install.rollout import NAMESPACE, SELECTOR
    from lab.install.status import running_lab

    client = running_lab(this_site(), name).client
    pods = client.pods(NAMESPACE, SELECTOR)
    chosen = [pod for pod in pods if node in (None, pod.node)]
    if not pods:
        raise CheckFailed(
            "no device plugin runs",
            remedy="bring the lab up to date",
            commands=(f"gpulab up --name {name}",),
        )
    if not chosen:
        raise UsageError(
            f"no device plugin runs on {node!r}",
            seen=f"nodes with one: {', '.join(pod.node for pod in pods)}",
            remedy="name one of these, or none for all",
        )
    for pod in chosen:
        click.echo(f"==> {pod.node}: pod {pod.name} <==", err=True)
        click.echo(client.logs(pod, tail=tail), nl=False)
