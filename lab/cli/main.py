"""`gpulab`: finds the command, and is the one place where errors become text and exit codes.

A command's module is imported when that command runs and not before, so that `gpulab --help`
stays quick; the table below therefore repeats each command's first line (a test compares them).
"""

import importlib
import os
import sys
import traceback
from typing import Final, NoReturn, TextIO

import click

from lab import __version__
from lab.cli import signals
from lab.cli.program import to_paste
from lab.core.errors import LabError
from lab.core.exit_codes import ExitCode
from lab.core.visible import visible

#: Name of each command: where it is, and its line in `gpulab --help`.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "up": ("lab.cli.up:up", "Create the lab, or bring the one that is there up to date."),
    "down": ("lab.cli.down:down", "Remove the lab and everything that it made."),
    "status": ("lab.cli.status:status", "Show the nodes, their devices and the plugins."),
    "logs": ("lab.cli.logs:logs", "Print what the device plugins say."),
    "inject": ("lab.cli.inject:inject", "Break devices and calls, and mend them."),
    "journal": ("lab.cli.journal:journal", "Print the calls between kubelet and plugins."),
    "timeline": ("lab.cli.timeline:timeline", "Show in nine steps how a pod came to its devices."),
    "node": ("lab.cli.node:node", "Restart nodes and kubelets."),
    "conform": ("lab.cli.conform:conform", "Try a device plugin of your own against the contract."),
    "run": ("lab.cli.run:run", "Run scenarios on the lab, and say what does not hold."),
    "list": ("lab.cli.list:list_", "Show the scenarios."),
    "report": (
        "lab.cli.report:report",
        "Make one page of HTML of the results of tests or scenarios.",
    ),
    "doctor": ("lab.cli.doctor:doctor", "Check whether this machine can run a lab."),
    "image": ("lab.cli.image:image", "Build the images that a lab runs on."),
    "version": ("lab.cli.version:version", "Print the versions of the lab and what it pins."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the table, which is the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands from the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "GPULAB"},
    epilog="Exit codes: 0 done, 1 a check failed, 2 usage, 3 this machine is not ready, "
    "4 timed out, 130 interrupted.",
)
@click.version_option(__version__, prog_name="gpulab", message="%(prog)s %(version)s")
def gpulab() -> None:
    """Run a GPU cluster without GPUs: real Kubernetes, fake accelerators.

    Start with `gpulab up`. Every option has an environment twin: `gpulab up --name` is
    GPULAB_UP_NAME, and GPULAB_NAME sets the lab's name for all commands.
    """


def main() -> NoReturn:
    """Run the command line of this process and exit with the code that the README promises."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run `gpulab` with these arguments, say what went wrong, and return the exit code."""
    try:
        # Not click's own `main`: it makes codes of its own from interrupts and broken pipes.
        with (
            signals.raise_interrupted(),
            gpulab.make_context("gpulab", [*arguments], obj=arguments) as context,
        ):
            gpulab.invoke(context)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last line of defence
        try:
            return _exit_code_of(error)
        except BrokenPipeError:
            return _without_reader(sys.stderr, _code_of(error))
    return ExitCode.DONE


def _exit_code_of(error: BaseException) -> int:
    """Say what there is to say of an error, and return its code."""
    match error:
        case KeyboardInterrupt():
            click.echo(str(error) or "interrupted", err=True)
        case LabError():
            click.echo(to_paste(visible(f"error: {error.render()}")), err=True)
        case click.ClickException():
            error.show()
        case BrokenPipeError():
            # The reader of our output has gone (`gpulab logs | head`): nothing is left to say.
            return _without_reader(sys.stdout, ExitCode.DONE)
        case click.exceptions.Exit():
            pass
        case _:
            traceback.print_exception(error)
            click.echo("This is a bug in gpu-lab. Please report it with the lines above.", err=True)
    return _code_of(error)


def _code_of(error: BaseException) -> int:
    match error:
        case LabError() | click.exceptions.Exit():
            return error.exit_code
        case KeyboardInterrupt():
            return ExitCode.INTERRUPTED
        case click.ClickException():
            return ExitCode.USAGE
        case _:
            return ExitCode.CHECK_FAILED


def _without_reader(stream: TextIO, code: int) -> int:
    """Send what a stream still holds nowhere, or Python would complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code


if __name__ == "__main__":
    main()
