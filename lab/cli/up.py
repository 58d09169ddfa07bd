"""`gpulab up`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click

from lab.cli.options import cluster_options, name_option, output_option, timeout_option
from lab.core.deadlines import DEVICES_SECONDS

if TYPE_CHECKING:
    from lab.core.fleet import Fleet
    from lab.install.status import LabStatus

#: Where a checkout keeps the configuration that `up` uses by itself.
_KIND_CONFIG: Final = Path("kind-config.yaml")
#: The chapter's pod, which asks for the devices of the chapter's fleet.
_EXAMPLE: Final = Path("examples/gpu-test-pod.yaml")
_FIRST_POD: Final = (
    f"  kubectl apply -f {_EXAMPLE}",
    "  kubectl wait pod/gpu-test-pod --for=condition=Ready --timeout=60s",
    "  kubectl logs gpu-test-pod",
)
_FILE: Final = click.Path(dir_okay=False, path_type=Path)


@click.command()
@name_option
@click.option(
    "-f",
    "--fleet",
    type=_FILE,
    help="The fleet file: which nodes have which devices. Default: one worker with two devices.",
)
@click.option(
    "--kind-config",
    type=_FILE,
    help="The kind configuration. Default: kind-config.yaml of the current folder, if it is there.",
)
@click.option(
    "--backend",
    type=click.Choice(["auto", "kind", "existing"]),
    default="auto",
    show_default=True,
    help="What the lab runs on. `auto`: existing with --kubeconfig, else kind.",
)
@cluster_options
@timeout_option(DEVICES_SECONDS, "How many seconds to wait for the devices.")
@output_option
def up(  # noqa: PLR0913, PLR0917 - one per option
    name: str,
    fleet: Path | None,
    kind_config: Path | None,
    node_image: str | None,
    backend: Literal["auto", "kind", "existing"],
    kubeconfig: Path | None,
    context: str | None,
    nodes: tuple[str, ...],
    plugin_image: str | None,
    timeout: float,
    output: str,
) -> None:
    """Create the lab, or bring the one that is there up to date."""
    from lab.cli.site import this_site
    from lab.cli.status import refuse_unready
    from lab.cli.table import print_status
    from lab.core.fleet import Fleet, load_fleet
    from lab.install.order import Order
    from lab.install.status import observe, running_lab
    from lab.install.up import bring_up

    wanted = load_fleet(fleet) if fleet else Fleet.default()
    site = this_site()
    order = Order(
        name,
        wanted,
        kind_config,
        node_image,
        timeout,
        backend=backend,
        found_config=_KIND_CONFIG if _KIND_CONFIG.exists() else None,
        kubeconfig=kubeconfig,
        context=context,
        nodes=nodes,
        plugin_image=plugin_image,
    )
    bring_up(order, site)
    lab = running_lab(site, name)
    status = observe(lab)
    print_status(status, output)
    refuse_unready(status)
    if output == "text":
        for line in (*_next_commands(status, wanted), *_held_back(name, lab.folder.placed_fleet())):
            click.echo(line)


def _next_commands(status: "LabStatus", fleet: "Fleet") -> tuple[str, ...]:
    from lab.cli.program import of_lab
    from lab.core.fleet import Fleet

    node = next(each.name for each in status.nodes if each.pool)
    chapters = fleet == Fleet.default() and _EXAMPLE.exists()
    return (
        "",
        "Next:",
        f"  export KUBECONFIG={shlex.quote(status.kubeconfig)}",
        f"  kubectl get node {node} -o jsonpath='{{.status.allocatable}}{{\"\\n\"}}'",
        *(_FIRST_POD if chapters else ()),
        f"  {of_lab(status.name, f'logs {node}')}",
        f"  {of_lab(status.name, 'down')}",
    )


def _held_back(name: str, fleet: "Fleet | None") -> tuple[str, ...]:
    """Return what the faults of the placed fleet hold back, and how to let it come."""
    from lab.cli.program import of_lab
    from lab.core.fleet import held_back, holdings

    held = holdings(held_back(fleet)) if fleet else ()
    lines = (
        f"held back: {each.what} ({each.does}); to let it come: "
        f"{of_lab(name, f'inject clear {each.rule}')}"
        for each in held
    )
    return ("", *lines) if held else ()
