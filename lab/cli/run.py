"""`gpulab run`."""

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click

from lab.cli.asked import Asked
from lab.cli.options import Whole, cluster_options, name_option, output_option
from lab.core.deadlines import DEVICES_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.harness.scenario import Scenario
    from lab.install.order import Order


_EVIDENCE: Final = Path("lab-evidence")


@click.command()
@click.argument("names", nargs=-1, metavar="[SCENARIO]...")
@click.option("--section", multiple=True, help="Those of a section of the chapter, and below it.")
@click.option("--tag", multiple=True, help="Those with this tag.")
@click.option("--repeat", type=Whole(1, 10_000), default=1, show_default=True, help="How often.")
@click.option("--seed", type=int, help="Run them in another order, told by this number.")
@click.option(
    "--evidence",
    type=click.Path(file_okay=False, path_type=Path),
    default=_EVIDENCE,
    show_default=True,
    help="The folder for results, and for all there is of what failed.",
)
@name_option
@click.option(
    "--backend",
    type=click.Choice(["kind", "existing"]),
    help="Make a lab for this run, where none of that name is up. Default: existing with "
    "--kubeconfig.",
)
@click.option("--keep", is_flag=True, help="Leave the lab that was made for this run.")
@cluster_options
@output_option
def run(  # noqa: PLR0913, PLR0917 - one per option
    names: tuple[str, ...],
    section: tuple[str, ...],
    tag: tuple[str, ...],
    repeat: int,
    seed: int | None,
    evidence: Path,
    name: str,
    backend: Literal["kind", "existing"] | None,
    keep: bool,  # noqa: FBT001 - click's way to hand over a flag
    node_image: str | None,
    kubeconfig: Path | None,
    context: str | None,
    nodes: tuple[str, ...],
    plugin_image: str | None,
    output: str,
) -> None:
    """Run scenarios on the lab, and say what does not hold.

    Without a name that is all of them, which `gpulab list` shows. Those for which the lab has too
    few nodes are skipped: a lab that is made for the run, with --backend kind, has enough for all.
    """
    from lab.core.fleet import Fleet
    from lab.harness.collection import chosen, fleet_of
    from lab.harness.evidence.folder import require_writable
    from lab.harness.order import ordered
    from lab.install.order import Order

    found = chosen(names, section, tag)
    require_writable(evidence)
    order = Order(
        name,
        Fleet.default(),
        kind_config=None,
        node_image=node_image,
        timeout=DEVICES_SECONDS,
        backend=backend or "auto",
        workers=max((fleet_of(each).workers() for each in found), default=0),
        kubeconfig=kubeconfig,
        context=context,
        nodes=nodes,
        plugin_image=plugin_image,
    )
    asked = Asked(
        names, section, tag, repeat, seed, _told(evidence, output, keep=keep), name, _made_by(order)
    )
    _run(order, ordered(found, repeat, seed), asked, evidence, output, keep=keep)


def _told(evidence: Path, output: str, *, keep: bool) -> tuple[str, ...]:
    """Return the options by which it is said what is left of a run, where they are not as usual."""
    folder = () if evidence == _EVIDENCE else ("--evidence", str(evidence))
    printed = () if output == "text" else ("--output", output)
    return (*folder, *printed, *(("--keep",) if keep else ()))


def _made_by(order: "Order") -> tuple[str, ...]:
    """Return the options by which a lab is made for a run."""
    given = (
        ("--backend", None if order.backend == "auto" else order.backend),
        ("--node-image", order.node_image),
        ("--kubeconfig", order.kubeconfig and str(order.kubeconfig)),
        ("--context", order.context),
        ("--nodes", ",".join(order.nodes)),
        ("--plugin-image", order.plugin_image),
    )
    return tuple(word for option, value in given if value for word in (option, value))


def _run(  # noqa: PLR0913 - what was asked for, in parts
    order: "Order",
    wanted: "Sequence[Scenario]",
    asked: Asked,
    evidence: Path,
    output: str,
    *,
    keep: bool,
) -> None:
    from lab.cli.ran import conclude, print_json, summary
    from lab.cli.site import this_site
    from lab.core.errors import LabError
    from lab.harness.run import Run, new_name
    from lab.harness.series import Series
    from lab.harness.venue import venue_for

    site = this_site()
    makes = order.backend != "auto" or order.kubeconfig is not None
    with venue_for(order, site, makes=makes, kept=_tell_kept if keep else None) as venue:
        of = Run(evidence, new_name("gpulab"), asked.options)
        series = Series(venue, site.progress, of, asked.tell)
        try:
            series.run(wanted)
        except LabError:
            # The error is of the run as a whole: what held until then is told before it.
            if series.ended:
                click.echo(summary(series), err=True)
            raise
        finally:
            if output == "json":
                print_json(series)
    conclude(series, asked)


def _tell_kept(name: str) -> None:
    from lab.cli.program import of_lab

    click.echo(f"kept: the lab {name}; to look at it, and to remove it:", err=True)
    for command in ("status", "down"):
        click.echo(f"  $ {of_lab(name, command)}", err=True)
