"""`gpulab run`."""

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
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
@click.option(
    "--evidence",
    type=click.Path(file_okay=False, path_type=Path),
    default="lab-evidence",
    show_default=True,
    help="The folder for results, and for all there is of what failed.",
)
@name_option
@output_option
def run(  # noqa: PLR0913, PLR0917 - one per option
    names: tuple[str, ...],
    section: tuple[str, ...],
    tag: tuple[str, ...],
    repeat: int,
    seed: int | None,
    evidence: Path,
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
    runs = Runs(lab, site, evidence, output)
    for number, each in enumerate(wanted, 1):
        runs.run(each, number)
    runs.conclude()


@dataclass
class Runs:
    """The scenarios of one command, and what has come of them."""

    lab: "RunningLab"
    site: "Site"
    evidence: Path
    output: str
    ended: list[dict[str, Any]] = field(default_factory=list)

    def run(self, scenario: "Scenario", number: int) -> None:
        """Run one scenario, the `number`-th."""
        from lab.core.errors import LabError
        from lab.harness.collection import fleet_of
        from lab.harness.running import run as run_scenario
        from lab.install.placing import place

        fleet = self.lab.backend.placed(fleet_of(scenario))
        if self.lab.folder.placed_fleet() != fleet:
            place(self.lab, fleet, self.site.progress)
        test = f"{number:03}-{scenario.name}"
        started, error = time.monotonic(), None
        try:
            with self.site.progress.step(f"{scenario.name}: {scenario.title()}"):
                run_scenario(scenario, self.lab, self.evidence, test=test)
        except LabError as failed:
            error = failed
            click.echo(error.render(), err=True)
            click.echo(f"  evidence: {self.evidence / test}", err=True)
        self.ended.append(
            {
                "name": scenario.name,
                "ok": error is None,
                "seconds": round(time.monotonic() - started, 2),
                "error": error.what if error else "",
                "evidence": str(self.evidence / test),
            }
        )

    def conclude(self) -> None:
        """Say what came of them; raises `CheckFailed` where one did not hold."""
        from lab.core.counted import counted
        from lab.core.errors import CheckFailed

        if self.output == "json":
            click.echo(json.dumps({"scenarios": self.ended}, indent=2))
        failed = [each["name"] for each in self.ended if not each["ok"]]
        number = counted(len(self.ended), "scenario")
        if failed:
            raise CheckFailed(
                f"{len(failed)} of {number} did not hold: {', '.join(failed)}",
                where=str(self.evidence),
                remedy="read what was kept of it, and run it alone again",
                commands=(
                    f"gpulab report {self.evidence}",
                    f"gpulab run {failed[0]} --name {self.lab.record.name}",
                ),
            )
        click.echo(f"{number} held", err=True)
