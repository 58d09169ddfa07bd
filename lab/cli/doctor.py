"""`gpulab doctor`."""

import json
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import click

from lab.cli.options import output_option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lab.core.errors import NotReady
    from lab.host.checks.finding import Finding
    from lab.host.checks.machine import Machine
    from lab.install.node_image import Choice
    from lab.install.site import Site

    Check = Callable[[], Finding]


@click.command()
@output_option
def doctor(output: str) -> None:
    """Check whether this machine can run a lab."""
    from lab.cli.site import this_site
    from lab.host.checks.finding import failed, refuse
    from lab.host.checks.machine import Machine

    site = this_site()
    machine = Machine.here(site.docker)
    findings = [check() for check in checks(machine, site)]
    if output == "json":
        report = {"ready": not failed(findings), "findings": [asdict(each) for each in findings]}
        click.echo(json.dumps(report, indent=2))
    else:
        print_findings(findings)
    refuse(findings, shown=True)


def checks(machine: "Machine", site: "Site") -> "tuple[Check, ...]":
    """Return the checks in the order in which they are printed."""
    from lab.cluster.kind.check import kind
    from lab.host.checks import engine, kernel, network, programs
    from lab.images.node import versions
    from lab.install.node_image import Choice

    chosen = node_choice(site, machine)
    # Where there is no image at all, the next one is the one that is built here.
    adapted = isinstance(chosen, Choice) and chosen.is_built_here
    of_nodes = chosen.kubernetes if isinstance(chosen, Choice) else versions.KUBERNETES
    return (
        partial(programs.python, machine),
        partial(engine.docker, machine),
        partial(engine.docker_version, machine),
        partial(engine.disk, machine),
        partial(kernel.memory, machine),
        partial(kernel.inotify("instances"), machine),
        partial(kernel.inotify("watches"), machine),
        partial(engine.cgroup, machine),
        partial(kernel.sys_resource, machine, adapted=adapted),
        partial(network.proxy, machine),
        partial(network.no_proxy, machine),
        partial(kind, site.processes, site.folders),
        partial(node_image, chosen),
        partial(plugin_image, site, machine),
        partial(programs.kubectl, site.processes, of_nodes),
        partial(programs.go, site.processes),
    )


def node_choice(site: "Site", machine: "Machine") -> "Choice | NotReady | None":
    """Return the image that nodes would start from, or why there is none.

    None without an engine, which alone could tell.
    """
    from lab.core.errors import NotReady
    from lab.host.docker import Engine
    from lab.install.node_image import choose

    if not isinstance(machine.engine, Engine):
        return None
    try:
        return choose(site.docker, None, engine=machine.engine)
    except NotReady as error:
        return error


def node_image(chosen: "Choice | NotReady | None") -> "Finding":
    """Return which image the nodes would start from; without one `up` does not begin."""
    from lab.core.errors import NotReady
    from lab.host.checks.finding import Finding, State

    match chosen:
        case None:
            return Finding("node-image", State.WARN, "not known without a Docker engine")
        case NotReady():
            return Finding.of("node-image", chosen, wanted="at hand or to be pulled")
        case _:
            return Finding("node-image", State.OK, f"{chosen.reference} ({chosen.reason})")


def plugin_image(site: "Site", machine: "Machine") -> "Finding":
    """Return whether the plugin image is built, or can be."""
    from lab.core.errors import NotReady
    from lab.host.checks.finding import Finding, State
    from lab.host.docker import Engine
    from lab.install.plugin_image import require_source

    if not isinstance(machine.engine, Engine):
        return Finding("plugin-image", State.WARN, "not known without a Docker engine")
    try:
        require_source(site.docker, site.folders, engine=machine.engine)
    except NotReady as error:
        return Finding.of("plugin-image", error, wanted="built, or mmdebstrap, or a registry")
    return Finding("plugin-image", State.OK, "built, or there is what to build it from")


def print_findings(findings: "Sequence[Finding]") -> None:
    """Print a table of all findings, and below it what to do about those that matter."""
    from rich.table import Table

    from lab.cli.program import to_paste
    from lab.cli.table import as_wide_as_needed

    table = Table(box=None, pad_edge=False, header_style="")
    for column in ("CHECK", "STATE", "MEASURED", "WANTED"):
        table.add_column(column, no_wrap=True)
    for each in findings:
        table.add_row(each.name, each.state, each.measured, each.wanted)
    click.echo(as_wide_as_needed(table))
    for each in findings:
        if each.state != "ok" and each.remedy:
            click.echo(f"\n{each.name}: {each.remedy}")
            for command in each.commands:
                click.echo(to_paste(f"  $ {command}"))
