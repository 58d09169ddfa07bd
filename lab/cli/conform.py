"""`gpulab conform`."""

import importlib
import json
import sys
from typing import TYPE_CHECKING, Final

import click

from lab.cli.options import name_option, output_option, timeout_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.conformance.check import Result
    from lab.conformance.report import Report

#: Columns of what was seen, in the table; all of it is in the JSON, and below for a failure.
_MOST_SHOWN: Final = 60
_MARKS: Final = {"passed": "✓", "failed": "✗", "not-applicable": "\N{EN DASH}", "undecided": "?"}


@click.command()
@click.option(
    "--plugin-command",
    help="What starts the plugin, as one text; {dir} in it stands for the kubelet's folder.",
)
@click.option(
    "--image", help="Try the plugin of this image in a lab; the command is then its container's."
)
@name_option
@click.option("--dir-variable", default="", help="A variable that tells the plugin that folder.")
@click.option(
    "--resource", default="", help="Which resource to try. Default: the first to be registered."
)
@timeout_option(30, "How many seconds the plugin may take to register.")
@output_option
def conform(  # noqa: PLR0913, PLR0917 - one per option
    plugin_command: str | None,
    image: str | None,
    name: str,
    dir_variable: str,
    resource: str,
    timeout: float,
    output: str,
) -> None:
    """Try a device plugin of your own against the contract."""
    if image is None and plugin_command is None:
        raise click.UsageError("say what starts the plugin: --plugin-command, --image or both")
    if image is not None and dir_variable:
        raise click.UsageError(
            "--dir-variable is for a process: in a pod the folder is where it is"
        )
    # A variable names the lab of all commands, also of those that need none.
    if image is None and _is_typed("name"):
        raise click.UsageError("--name is for --image: a process is tried without a lab")
    refuse_without_libraries()
    if image is not None:
        report = _report_on_image(image, plugin_command, name, resource, timeout)
    else:
        report = _report_on_process(plugin_command or "", dir_variable, resource, timeout)
    print_report(report, output)
    refuse_failures(report)


def _is_typed(option: str) -> bool:
    source = click.get_current_context().get_parameter_source(option)
    return source is click.core.ParameterSource.COMMANDLINE


def _report_on_process(
    plugin_command: str, dir_variable: str, resource: str, timeout: float
) -> "Report":
    from lab.cli.console import progress_for
    from lab.conformance.command import PluginCommand
    from lab.conformance.examination import examine
    from lab.conformance.limits import Limits

    return examine(
        PluginCommand.parse(plugin_command, dir_variable),
        resource=resource,
        limits=Limits(register=timeout),
        progress=progress_for(),
    )


def _report_on_image(
    image: str, plugin_command: str | None, name: str, resource: str, timeout: float
) -> "Report":
    from lab.cli.site import this_site
    from lab.conformance.command import PluginCommand
    from lab.conformance.in_cluster.examination import examine_image

    command = PluginCommand.parse(plugin_command).in_pod() if plugin_command is not None else ()
    return examine_image(
        image, command, name=name, resource=resource, seconds=timeout, site=this_site()
    )


def refuse_without_libraries() -> None:
    """Raise `NotReady` where gRPC is missing, which only a part of the lab needs."""
    from lab.core.errors import NotReady

    try:
        importlib.import_module("fake_plugin.api.deviceplugin_pb2_grpc")
    # What is too old raises something of its own each.
    except Exception as problem:
        raise NotReady(
            "the libraries that speak with a device plugin are missing",
            where=sys.executable,
            seen=f"{type(problem).__name__}: {problem}",
            remedy="install them for this Python",
            commands=("pip install 'gpu-lab[plugin]'",),
        ) from problem


def print_report(report: "Report", output: str) -> None:
    """Print a table of all checks, what is to be known of those that failed, and the count."""
    if output == "json":
        click.echo(json.dumps(report.as_json(), indent=2))
        return
    from rich.table import Table

    from lab.cli.table import as_wide_as_needed
    from lab.conformance.check import Verdict
    from lab.core.visible import visible

    table = Table(box=None, pad_edge=False, header_style="")
    for column in ("", "CHECK", "THE PLUGIN"):
        table.add_column(column, no_wrap=True)
    table.add_column("SEEN", no_wrap=True, max_width=_MOST_SHOWN)
    for each in report.results:
        seen = visible(each.seen).partition("\n")[0]
        table.add_row(_MARKS[each.verdict], each.rule.id, each.rule.title, seen)
    click.echo(as_wide_as_needed(table))
    for each in (*report.of(Verdict.FAILED), *report.of(Verdict.UNDECIDED)):
        click.echo(f"\n{_MARKS[each.verdict]} {each.rule.id}: {each.rule.title}")
        lines = [("seen", each.seen)]
        if each.verdict is Verdict.FAILED:
            lines += [("why", each.rule.why), ("read", each.rule.source)]
        for label, text in lines:
            click.echo(f"  {label + ':':<6}" + visible(text).replace("\n", "\n        "))
    counts = [
        f"{number} {each.value.replace('-', ' ')}"
        for each in Verdict
        if (number := len(report.of(each))) or each is not Verdict.UNDECIDED
    ]
    click.echo(f"\n{visible(report.resource) or 'no resource'}: {', '.join(counts)}")


def refuse_failures(report: "Report") -> None:
    """Raise what has to be said after the report was printed.

    What is left behind or was in the way comes before what failed, which the report tells.
    """
    from lab.conformance.check import Verdict
    from lab.core.errors import CheckFailed

    if report.problem:
        raise report.problem
    number = len(report.results)
    if failed := report.of(Verdict.FAILED):
        raise CheckFailed(
            f"{len(failed)} of {number} checks failed: {_ids(failed)}",
            where=report.tried,
            remedy="mend the plugin; the report says of each what it breaks, and where to read on",
        )
    if undecided := report.of(Verdict.UNDECIDED):
        raise CheckFailed(
            f"{len(undecided)} of {number} checks could not be decided: {_ids(undecided)}",
            where=report.tried,
            remedy="see to what was in the way, which the report says, and try the plugin again",
        )


def _ids(results: "Sequence[Result]") -> str:
    return ", ".join(each.rule.id for each in results)
