"""`gpulab inject fault`, `remove-socket` and `crash`."""

from typing import TYPE_CHECKING, Unpack

import click

from fake_plugin.faults.fault import CALLS, WRONG_ANSWERS, Call
from lab.cli.inject.session import Duration, Session, on_nodes
from lab.cli.options import Whole
from lab.core.exit_codes import KILLED

if TYPE_CHECKING:
    from lab.cluster.plugin.faults import Effect


@click.command()
@click.argument("call", type=click.Choice(CALLS))
@click.option(
    "--fails", metavar="TEXT", help="It fails with this text; Register, in the kubelet's."
)
@click.option("--code", metavar="CODE", help="With --fails: the gRPC code, by default UNKNOWN.")
@click.option(
    "--delay", type=Duration(), metavar="TIME", help="It is answered late, such as 5s or 500ms."
)
@click.option("--hang", is_flag=True, help="It is not answered until the rule is cleared.")
@click.option("--answers", type=click.Choice(WRONG_ANSWERS), help="It is answered wrongly.")
@click.option(
    "--drop",
    type=Duration(),
    metavar="TIME",
    help="ListAndWatch ends after this time; 0s: at once.",
)
@click.option("--resource", help="Only calls about this resource.")
@click.option("--nth", type=Whole(min=1), help="Only the n-th call from now on.")
@click.option("--times", type=Whole(min=1), help="Only as many calls.")
@on_nodes
def fault(
    call: Call, node: tuple[str, ...], name: str, output: str, **effect: "Unpack[Effect]"
) -> None:
    """Make a rule by which a CALL of the kubelet goes wrong.

    CALL is one of the device plugin API; Register is the plugin's own. Without --nth and --times
    the rule holds for all calls until it is cleared.
    """
    from lab.cluster.plugin.faults import fault as rule_of

    asked = rule_of(call, **effect)
    Session(name, node, output).ask(
        lambda plugin: plugin.add_fault(asked), lambda rule: f"rule {rule}"
    )


@click.command("remove-socket")
@click.argument("resource")
@on_nodes
def remove_socket(resource: str, node: tuple[str, ...], name: str, output: str) -> None:
    """Remove the socket of a RESOURCE from under its plugin."""
    Session(name, node, output).ask(
        lambda plugin: plugin.remove_socket(resource),
        lambda done: f"removed the socket of {done.removed}",
    )


@click.command()
@click.option(
    "--exit-code",
    type=Whole(0, 255),
    default=KILLED,
    show_default=True,
    metavar="CODE",
    help="What the process ends with.",
)
@on_nodes
def crash(exit_code: int, node: tuple[str, ...], name: str, output: str) -> None:
    """End the plugin's process as if it were killed: the kubelet starts its container again."""
    Session(name, node, output).ask(
        lambda plugin: plugin.crash(exit_code),
        lambda done: f"the plugin has ended with exit code {done.exit_code}",
    )
