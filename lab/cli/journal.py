"""`gpulab journal`."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

from lab.cli.inject.session import Json, Session, on_nodes

if TYPE_CHECKING:
    from lab.cluster.plugin_api import PluginApi

#: The plugin gives out no more in one answer.
_MOST: Final = 1000


@click.command()
@click.option(
    "--since",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Only calls from this number on.",
)
@on_nodes
def journal(since: int, node: tuple[str, ...], name: str, output: str) -> None:
    """Print the calls between kubelet and plugins.

    Each node has its own numbers, which begin again with its plugin. The last 4096 are kept.
    """

    def read(api: "PluginApi") -> Json:
        found: Json = {"calls": [], "next": since, "open": []}
        while True:
            part = api.get("/v1/journal", {"since": str(found["next"]), "limit": str(_MOST)})
            found = {**part, "calls": [*found["calls"], *part["calls"]]}
            if len(part["calls"]) < _MOST:
                return found

    Session(name, node, output).show(read, _lines, "inject list")


def _lines(found: Json) -> Iterator[str]:
    for each in found["calls"]:
        spent = f"{each['endMs'] - each['startMs']:.1f} ms" if "code" in each else ""
        yield _line(each, str(each["n"]), spent, each.get("code", "sent"))
    for each in found["open"]:
        yield _line(each, "open", "", "")
    if not found["calls"]:
        yield f"no calls yet from number {found['next']} on"


def _line(call: Json, number: str, spent: str, code: str) -> str:
    """Return a call in a line; its time is that of its start, of the day, as UTC has it."""
    fault = f" [{call['fault']}]" if "fault" in call else ""
    parts = (call[part] for part in ("request", "answer") if call.get(part))
    said = " -> ".join(json.dumps(part, ensure_ascii=False) for part in parts)
    moment = str(call["time"])[11:23]
    what = f"{call['call']} {call['resource']}{fault} {said}"
    return f"{number:>5} {moment} {spent:>11} {code:<8} {what}".rstrip()
