"""`gpulab inject list` and `gpulab inject clear`."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from lab.cli.inject.calls import described
from lab.cli.inject.session import Json, Session, counted, on_nodes

if TYPE_CHECKING:
    from lab.cluster.plugin_api import PluginApi

_RULE: Final = re.compile(r"(rule|fleet)-[0-9]{1,9}")


@click.command("list")
@on_nodes
def list_all(node: tuple[str, ...], name: str, output: str) -> None:
    """Show what is broken, missing, added or set to go wrong."""
    Session(name, node, output).show(_look, _lines, "inject clear", "journal")


@click.command()
@click.argument("rule", required=False)
@on_nodes
def clear(rule: str | None, node: tuple[str, ...], name: str, output: str) -> None:
    """Mend everything, remove all rules, and have as many cards as the fleet says.

    With RULE, as `gpulab inject list` names it, remove that rule and leave all else.
    """
    if rule is not None and not _RULE.fullmatch(rule):
        # An empty one too: a variable that is not set must not clear everything.
        raise click.BadParameter(
            f"{rule!r} names no rule: rule-1 and fleet-1 would, as `gpulab inject list` shows them",
            param_hint="RULE",
        )
    session = Session(name, node, output)
    if rule:
        session.ask(lambda api: api.delete("/v1/faults", rule), lambda _: f"{rule} removed")
    else:
        session.ask(lambda api: api.post("/v1/clear"), _cleared)


def _look(api: "PluginApi") -> Json:
    seen = api.get("/v1/node")
    devices = [device for resource in seen["resources"] for device in resource["devices"]]
    return {
        "policy": seen["policy"],
        "ready": seen["ready"],
        "broken": [each for each in devices if each["breakage"] or not each["healthy"]],
        "unplugged": seen["unplugged"],
        "added": seen["added"],
        "flaps": seen["flaps"],
        "faults": api.get("/v1/faults")["faults"],
        "problems": seen["problems"],
    }


def _lines(seen: Json) -> list[str]:
    return [*_unusual(seen)] or ["nothing: all is as the fleet says"]


def _unusual(seen: Json) -> Iterator[str]:
    if not seen["ready"]:
        yield "the kubelet does not watch all of its resources"
    for device in seen["broken"]:
        yield f"{device['pool']}/{device['index']} {device['id']}: {_state(device)}"
    for card in seen["unplugged"]:
        yield f"{card['pool']}/{card['index']} {card['card']}: unplugged"
    for pool, number in seen["added"].items():
        yield f"{pool}: {counted(number, 'card')} added"
    for flap in seen["flaps"]:
        yield f"{', '.join(flap['units'])}: {flap['becomes']}, {_turns(flap)}"
    for rule in seen["faults"]:
        spent = ", spent" if rule["spent"] else ""
        yield f"rule {described(rule)} (seen {rule['seen']}, met {rule['hit']}{spent})"
    yield from seen["problems"]


def _turns(flap: Json) -> str:
    """Return how often a flap is still to come; a step of the fleet's script comes once."""
    if flap["every"] is None:
        return "once, later"
    left = "for ever" if flap["left"] is None else f"{flap['left']} times more"
    return f"every {flap['every']}, {left}"


def _state(device: dict[str, Any]) -> str:
    health = "healthy" if device["healthy"] else "unhealthy"
    if device["breakage"]:
        return f"{health}, {device['breakage']}"
    return f"{health}, though mended: the policy is sticky"


def _cleared(result: Json) -> str:
    sticky = "; the policy is sticky: what was unhealthy is so until the plugin restarts"
    done = f"all mended; {counted(result['rules'], 'rule')} removed"
    return f"{done}{sticky}" if result["sticky"] else done
