"""The page about the plugin says what the plugin does; its examples are played to it."""

import ast
import json
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from itertools import pairwise
from pathlib import Path
from random import randint
from typing import Any, Final

import pytest

from fake_plugin import events
from fake_plugin.api.deviceplugin_pb2 import AllocateRequest, ContainerAllocateRequest, Empty
from fake_plugin.config import read_config
from fake_plugin.control import doorway, handler, server
from fake_plugin.control.exchange import Request
from fake_plugin.control.faults import MOST_RULES
from fake_plugin.control.health import MOST_FLAPS
from fake_plugin.control.metrics import Metrics
from fake_plugin.control.node import Node
from fake_plugin.control.refusal import Refusal
from fake_plugin.control.routes import _OPEN, ROUTES, Routes
from fake_plugin.control.token import TokenFile
from fake_plugin.errors import NotReady, WrongUse
from fake_plugin.faults.fault import MOST_CHARACTERS
from fake_plugin.hardware.script import Script
from fake_plugin.log import Event
from fake_plugin.metrics.endpoint import Endpoint
from fake_plugin.resources.inventory import Inventory
from fake_plugin.serving.interceptor import Switchboard
from fake_plugin.serving.journal import Record
from fake_plugin.serving.readiness import Readiness
from tests.unit.docs.fleets import place_of_a_lab, plan_of
from tests.unit.docs.pages import ROOT, Block, page

PAGE: Final = page("docs/reference/plugin.md")
NODE: Final = "gpu-lab-worker"
TOKEN: Final = "0123456789abcdef"  # noqa: S105 - of a node that is none
BY_HAND: Final = "/tmp/by-hand"  # noqa: S108 - a reader's, as the page has it
#: What differs from run to run, wherever it stands in an answer.
VARYING: Final = ("time", "uptimeSeconds", "startMs", "endMs")
Told = tuple[int, Any]


def rows(title: str) -> list[list[str]]:
    """Return the rows of a section's tables, without the marks of code."""
    return [[cell.replace("`", "") for cell in row] for row in PAGE.section(title).rows()]


def test_options_have_their_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """The rows are what the plugin's own help lists, variables included."""
    with pytest.raises(SystemExit):
        read_config(["--help"], {})
    told = re.findall(
        r"(--[a-z-]+) [A-Z:]+\s.*?\[(GPULAB_\w+)\]", capsys.readouterr().out, re.DOTALL
    )
    assert [(row[0], row[1]) for row in rows("Command line")] == told


def test_exit_codes_are_those_of_the_errors() -> None:
    """0 and a crash's 1 beside them; a second signal has a code of its own."""
    codes = {row[0] for row in rows("Exit codes")}
    errors = {str(each.exit_code) for each in (WrongUse, NotReady)}
    assert codes == {"0", "1", "128 + n"} | errors


def every_event() -> dict[str, Event]:
    """Return the events by the names that the code has for them."""
    return {name: each for name, each in vars(events).items() if isinstance(each, Event)}


def test_events_are_those_of_the_log() -> None:
    """In the order of the module, with level and sentence."""
    told = [(each[0], each[1], each[2]) for each in rows("The log")]
    assert told == [
        (each.name, logging.getLevelName(each.level).lower(), each.message)
        for each in every_event().values()
    ]


def facts_said() -> Iterator[tuple[str, set[str]]]:
    """Yield, for every line of code that logs an event by name, the event and its facts."""
    names = every_event()
    for path in sorted(ROOT.glob("fake_plugin/**/*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match call:
                case ast.Call(func=ast.Name("say"), args=[ast.Attribute(ast.Name("events"), name)]):
                    given = {each.arg or "where, seen, remedy" for each in call.keywords}
                    yield names[name].name, set(", ".join(given).split(", ")) - {""}


def test_no_event_is_on_the_page_that_the_code_never_logs() -> None:
    """What reads the log would wait for it in vain."""
    code = "\n".join(each.read_text("utf-8") for each in ROOT.glob("fake_plugin/**/*.py"))
    for name in every_event():
        assert re.search(rf"\bevents\.{name}\b", code), name


def test_facts_of_events_are_those_that_the_code_says() -> None:
    """What stands in a line of the log beside time, level, event and message."""
    told = {each[0]: set(each[3].split(", ")) - {""} for each in rows("The log")}
    said = list(facts_said())
    assert len(said) > len(told) / 2
    for name, facts in said:
        assert told[name] == facts, name


def test_every_route_of_the_code_is_on_the_page_and_the_other_way_round() -> None:
    """Path and method; what `*` stands for is a rule's ID."""
    code = {(method, path.replace("*", "ID")) for path, each in ROUTES.items() for method in each}
    code |= {("GET", path) for path in _OPEN}
    told = [(row[0], row[1]) for row in rows("Routes")]
    assert set(told) == code
    assert len(told) == len(code)


def statuses_of_the_code() -> set[HTTPStatus]:
    """Return every status that a module of the control API names, and is no mere success."""
    texts = [each.read_text(encoding="utf-8") for each in ROOT.glob("fake_plugin/control/*.py")]
    named = {HTTPStatus[name] for name in re.findall(r"HTTPStatus\.([A-Z_]+)", "\n".join(texts))}
    return named - {HTTPStatus.OK, HTTPStatus.NOT_IMPLEMENTED}


def test_statuses_of_errors_are_those_of_the_code() -> None:
    """Each that a caller has to reckon with is in the table."""
    assert {int(row[0]) for row in rows("Errors")} == {int(each) for each in statuses_of_the_code()}


def test_the_bounds_of_a_call_are_those_of_the_server() -> None:
    """How many, how long, how large; of those that say nothing, and of flaps and rules too."""
    text = PAGE.section("Calling it").text
    assert f"{server.AT_ONCE} calls at a time" in text
    assert f"{server.SECONDS:.0f} seconds" in text
    assert f"{handler.HEAD_BYTES // 1024} KiB of headers" in text
    assert f"{handler.BODY_BYTES // 1024} KiB of body" in text
    assert f"of {doorway.MOST} such" in text
    limits = f"one flap more than {MOST_FLAPS}, or one rule more than {MOST_RULES}"
    assert limits in PAGE.section("Errors").text
    assert f"Up to {MOST_FLAPS} flaps" in PAGE.text
    assert f"up to {MOST_RULES} rules" in PAGE.text
    assert f"up to {MOST_CHARACTERS} characters" in PAGE.text


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """Return the node of the page's fleet, with a call of the kubelet behind it."""
    (fleet,) = PAGE.blocks("yaml")
    plan = plan_of(fleet.text, NODE, tmp_path)
    inventory = Inventory.load(tmp_path, NODE, plan, place_of_a_lab())
    script = Script(inventory.board)
    readiness = Readiness([])
    board = Switchboard()
    (resource,) = inventory.resources
    wanted = AllocateRequest(
        container_requests=[ContainerAllocateRequest(devices_ids=[resource.devices[0].id])]
    )
    with board.journal.recording(Record("Allocate", resource.name, wanted)) as record:
        record.answer = resource.offer.answer(resource.devices[:1])
    with board.journal.recording(Record("ListAndWatch", resource.name, Empty())) as record:
        board.journal.sent(record, resource.listing().message)
        yield Node(inventory, board, script, readiness, lambda _: True, print)


@pytest.fixture
def routes(node: Node, tmp_path: Path) -> Routes:
    """Return the API of that node."""
    file = tmp_path / "token"
    file.write_text(TOKEN)
    return Routes(node, TokenFile(file), Metrics(Endpoint(node.inventory)).answer)


def called(routes: Routes, example: str) -> Told:
    """Return the status and the JSON that come of a call as the page writes it."""
    head, _, body = example.partition("\n\n")
    method, target = head.split()
    path, _, query = target.partition("?")
    asked = dict(pair.split("=") for pair in query.split("&") if pair)
    try:
        answer = routes.answer(Request(method, path, asked, "", TOKEN, body.encode))
    except Refusal as refusal:
        return refusal.status, refusal.as_json()
    return answer.status, json.loads(b"".join(answer.pieces))


def steady(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a JSON value without what differs from run to run."""
    match value:
        case dict():
            return {key: "…" if key in VARYING else steady(each) for key, each in value.items()}
        case list():
            return [steady(each) for each in value]
        case _:
            return value


def examples() -> list[tuple[Block, Block]]:
    """Return the calls on the page, each with the answer right below it."""
    return [(block, below) for block, below in pairwise(PAGE.blocks()) if block.language == "http"]


def test_examples_of_calls_are_answered_so(routes: Routes) -> None:
    """From top to bottom of the page, on one node: errors have the status of the table."""
    assert examples()
    statuses = {int(row[0]) for row in rows("Errors")}
    for asked, below in examples():
        status, answer = called(routes, asked.text.strip())
        assert steady(answer) == steady(json.loads(below.text)), asked.text
        assert status == HTTPStatus.OK or status in statuses


def test_every_route_that_changes_something_has_an_example() -> None:
    """A reader can begin with what works."""
    shown = {tuple(asked.text.split()[:2]) for asked, _ in examples()}
    for path, methods in ROUTES.items():
        for method in methods:
            pattern = re.compile(path.replace("*", "[^/]+") + r"(\?.*)?")
            assert any(each == method and pattern.fullmatch(at) for each, at in shown), path


def test_fields_of_the_journal_are_those_of_its_lines(node: Node) -> None:
    """Those of a call that has ended, of a message of a stream, and of a call that goes on."""
    journal = node.switchboard.journal
    with journal.recording(Record("Allocate", "a/b", Empty(), fault="rule-1")):
        waiting = [dict(each) for each in journal.open_calls()]
    lines, _ = journal.since(1, 100)
    found = [key for each in (*map(json.loads, lines), *waiting) for key in each]
    told = ", ".join(row[0] for row in rows("The journal")).split(", ")
    assert set(told) == set(found)


def loopback_of_our_own() -> str:
    """Return an address of this machine that nobody else is likely to listen on.

    A port that was found to be free may be another's by the time that the script binds it.
    """
    return f"127.{randint(1, 254)}.{randint(0, 255)}.{randint(1, 254)}"  # noqa: S311 - no secret


def typed(text: str, host: str, folder: str) -> str:
    """Return a section's blocks as one script, with another address and another folder."""
    blocks = re.findall(r"^```(sh|python)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    parts = [f"python - <<'END'\n{each}END" if kind == "python" else each for kind, each in blocks]
    return "\n".join(parts).replace("127.0.0.1", host).replace(BY_HAND, folder)


def test_the_round_by_hand_works() -> None:
    """The blocks are one script: start a plugin, be its kubelet, ask it, end it."""
    section = PAGE.section("By hand").text
    (told,) = re.findall(r"^```text\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    # A folder of pytest's own may have too long a path for a socket.
    with tempfile.TemporaryDirectory(prefix="gp-", dir="/tmp") as folder:
        script = typed(section, loopback_of_our_own(), folder)
        ended = run_by_bash(script)
    assert ended == told


def run_by_bash(script: str) -> str:
    """Return what a script prints, run from the root of the repository; nothing of it stays."""
    with subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as shell:
        try:
            printed, complaints = shell.communicate(timeout=60)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
    assert shell.returncode == 0, complaints
    return printed
