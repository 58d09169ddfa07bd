"""`gpulab run`."""

import json
import time
from typing import TYPE_CHECKING, Any

import click

from lab.cli.options import name_option, output_option

if TYPE_CHECKING:
    from lab.harness.scenario import Scenario
    from lab.install.site import Site
    from lab.install.status import RunningLab


@click.command()
@click.argument("names", nargs=-1, metavar="[SCENARIO]...")
@click.option("--section", multiple=True, help="Those of a section of the chapter, and below it.")
@click.option("--tag", multiple=True, help="Those with this tag.")
@click.option(
    "--repeat", type=click.IntRange(1, 10_000), default=1, show_default=True, help="How often."
)
@click.option("--seed", type=int, help="Run them in another order, told by this number.")
@name_option
@output_option
def run(  # noqa: PLR0913, PLR0917 - one per option
    names: tuple[str, ...],
    section: tuple[str, ...],
    tag: tuple[str, ...],
    repeat: int,
    seed: int | None,
    name: str,
    output: str,
) -> None:
    """Run scenarios on the lab, and say what does not hold."""
    from lab.cli.site import this_site
    from lab.harness.collection import chosen
    from lab.harness.order import ordered
    from lab.install.status import running_lab

    wanted = ordered(chosen(names, section, tag), repeat, seed)
    site = this_site()
    lab = running_lab(site, name)
    results = [_run(each, lab, site) for each in wanted]
    if output == "json":
        click.echo(json.dumps({"scenarios": results}, indent=2))
    failed = [each["name"] for each in results if not each["ok"]]
    _conclude(len(results), failed)


def _run(scenario: "Scenario", lab: "RunningLab", site: "Site") -> dict[str, Any]:
    from lab.core.errors import LabError
    from lab.harness.collection import fleet_of
    from lab.harness.running import run as run_scenario
    from lab.install.placing import place

    started = time.monotonic()
    error: LabError | None = None
    fleet = lab.backend.placed(fleet_of(scenario))
    if lab.folder.placed_fleet() != fleet:
        place(lab, fleet, site.progress)
    try:
        with site.progress.step(f"{scenario.name}: {scenario.title()}"):
            run_scenario(scenario, lab)
    except LabError as failed:
        error = failed
        click.echo(error.render(), err=True)
    return {
        "name": scenario.name,
        "ok": error is None,
        "seconds": round(time.monotonic() - started, 2),
        "error": error.what if error else "",
    }


def _conclude(number: int, failed: list[str]) -> None:
    from lab.core.counted import counted
    from lab.core.errors import CheckFailed

    if failed:
        raise CheckFailed(
            f"{len(failed)} of {counted(number, 'scenario')} did not hold: {', '.join(failed)}",
            remedy="run one of them alone",
            commands=(f"gpulab run {failed[0]}",),
        )
    click.echo(f"{counted(number, 'scenario')} held", err=True)
