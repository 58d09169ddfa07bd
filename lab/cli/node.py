"""`gpulab node`: a group of commands, each done to one node from outside of Kubernetes."""

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from lab.cli.options import name_option, output_option, timeout_option

if TYPE_CHECKING:
    from lab.install.nodes import LabNode

Command = TypeVar("Command", bound=Callable[..., None])

_timeout_option = timeout_option(120, "How many seconds to wait until the node is Ready.")


def _on_one_node(command: Command) -> Command:
    """Give a command the argument and the options of all that are done to a node."""
    return click.argument("node_name", metavar="NAME")(name_option(output_option(command)))


@click.group()
def node() -> None:
    """Restart nodes and kubelets.

    NAME is a node by its name in fleet or cluster. What a backend has no way to is refused.
    """


@node.command("restart-kubelet")
@_on_one_node
@_timeout_option
def restart_kubelet(node_name: str, name: str, timeout: float, output: str) -> None:
    """Restart a node's kubelet, and wait until the node is Ready again."""

    def act(chosen: "LabNode") -> str:
        chosen.restart_kubelet(timeout)
        return "its kubelet was restarted, and it is Ready"

    _do("restart-kubelet", node_name, name, output, act)


@node.command("stop-kubelet")
@_on_one_node
def stop_kubelet(node_name: str, name: str, output: str) -> None:
    """Stop a node's kubelet: the node stays NotReady until it is started again."""

    def act(chosen: "LabNode") -> str:
        chosen.stop_kubelet()
        return "its kubelet is stopped; Kubernetes notices after 40 seconds or more"

    _do("stop-kubelet", node_name, name, output, act)


@node.command("start-kubelet")
@_on_one_node
@_timeout_option
def start_kubelet(node_name: str, name: str, timeout: float, output: str) -> None:
    """Start a node's kubelet, and wait until the node is Ready."""

    def act(chosen: "LabNode") -> str:
        if chosen.start_kubelet(timeout):
            return "its kubelet was started, and it is Ready"
        return "its kubelet runs: nothing to start"

    _do("start-kubelet", node_name, name, output, act)


@node.command("restart")
@_on_one_node
@_timeout_option
def restart(node_name: str, name: str, timeout: float, output: str) -> None:
    """Restart a node with all that runs on it, and wait until it is Ready again."""

    def act(chosen: "LabNode") -> str:
        chosen.restart(timeout)
        return "it was restarted, and it is Ready"

    _do("restart", node_name, name, output, act)


def _do(
    act: str, node_name: str, name: str, output: str, doing: Callable[["LabNode"], str]
) -> None:
    """Do it to the node, and print what came of it."""
    from lab.cli.program import of_lab
    from lab.cli.site import this_site
    from lab.install.nodes import LabNode
    from lab.install.status import running_lab

    site = this_site()
    chosen = LabNode.named(running_lab(site, name), node_name)
    started = time.monotonic()
    with site.progress.step(f"{act} {chosen.title}"):
        told = doing(chosen)
    if output == "json":
        seconds = round(time.monotonic() - started, 1)
        done = {"node": chosen.name, "members": chosen.members, "did": act, "seconds": seconds}
        click.echo(json.dumps(done, indent=2))
        return
    click.echo(f"{chosen.title}: {told}")
    following = f"node start-kubelet {chosen.name}" if act == "stop-kubelet" else "status"
    click.echo(f"\nNext:\n  {of_lab(name, following)}")
