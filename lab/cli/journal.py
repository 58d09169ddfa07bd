"""`gpulab journal`."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from lab.cli.inject.session import Session, on_nodes
from lab.cli.options import Whole

if TYPE_CHECKING:
    from lab.cluster.plugin.journal import Call, Journal


@click.command()
@click.option(
    "--since",
    type=Whole(min=1),
    default=1,
    show_default=True,
    help="Only calls from this number on.",
)
@on_nodes
def journal(since: int, node: tuple[str, ...], name: str, output: str) -> None:
    """Print the calls between kubelet and plugins.

    Each node has its own numbers, which begin again with its plugin. The last 4096 are kept.
    """
    Session(name, node, output).show(
        lambda plugin: plugin.journal(since), _lines, lambda _: ["inject list"]
    )


def _lines(found: "Journal") -> Iterator[str]:
    yield from map(_line, (*found.calls, *found.open))
    if not found.calls:
        yield f"no calls yet from number {found.next} on"


def _line(call: "Call") -> str:
    """Return a call in a line; its time is that of its start, of the day, as UTC has it."""
    number = "open" if call.is_open else str(call.number)
    spent = "" if call.duration is None else f"{call.duration * 1000:.1f} ms"
    code = call.code or ("" if call.is_open else "sent")
    fault = f" [{call.fault}]" if call.fault else ""
    said = " -> ".join(
        json.dumps(part, ensure_ascii=False) for part in (call.request, call.answer) if part
    )
    moment = call.time.time().isoformat(timespec="milliseconds")
    what = f"{call.call} {call.resource}{fault} {said}"
    return f"{number:>5} {moment} {spent:>11} {code:<8} {what}".rstrip()
