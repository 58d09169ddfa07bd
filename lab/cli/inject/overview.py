"""`gpulab inject list` and `gpulab inject clear`."""

from typing import TYPE_CHECKING

import click

from lab.cli.inject.session import Session, on_nodes
from lab.core.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.cluster.plugin.overview import Cleared, Overview


@click.command("list")
@on_nodes
def list_all(node: tuple[str, ...], name: str, output: str) -> None:
    """Show what is broken, missing, added or set to go wrong."""
    Session(name, node, output).show(lambda plugin: plugin.overview(), _lines, _following)


@click.command()
@click.argument("rule", required=False)
@on_nodes
def clear(rule: str | None, node: tuple[str, ...], name: str, output: str) -> None:
    """Mend everything, remove all rules, and have as many cards as the fleet says.

    With RULE, as `gpulab inject list` names it, remove that rule and leave all else.
    """
    from lab.cluster.plugin.rules import require_id

    session = Session(name, node, output)
    if rule is None:
        session.ask(lambda plugin: plugin.clear(), _cleared, ("inject list",))
    else:
        require_id(rule)
        session.ask(lambda plugin: plugin.remove_fault(rule), lambda _: f"{rule} removed")


def _lines(seen: "Overview") -> list[str]:
    return [*seen.lines()] or ["nothing: all is as the fleet says"]


def _following(seen: "Sequence[Overview]") -> list[str]:
    """Return what to do next: where nothing is to be cleared, that is not offered."""
    return ["inject clear"] * any([*each.lines()] for each in seen) + ["journal"]


def _cleared(done: "Cleared") -> str:
    sticky = "; the policy is sticky: what was unhealthy is so until the plugin restarts"
    told = f"all mended; {counted(done.rules, 'rule')} removed"
    return f"{told}{sticky}" if done.sticky else told
