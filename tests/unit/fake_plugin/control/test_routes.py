"""Who may call what, and what is seen of a node."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

import lab
from fake_plugin import __version__
from fake_plugin.api.deviceplugin_pb2 import Empty
from fake_plugin.control.exchange import Request
from fake_plugin.control.node import Node
from fake_plugin.control.refusal import Refusal
from fake_plugin.control.routes import ROUTES, Routes
from fake_plugin.control.token import TokenFile
from fake_plugin.errors import NotReady, WrongUse
from fake_plugin.hardware.board import Board
from fake_plugin.serving.journal import Record
from tests.unit.fake_plugin.control.conftest import GPU, PLAIN, TOKEN, Call, Sockets, broken

METHODS = [(method, path) for path, methods in ROUTES.items() for method in methods]


@pytest.mark.parametrize(("method", "path"), [*METHODS, ("GET", "/nowhere"), ("PUT", "/v1/node")])
def test_nothing_is_told_without_the_token(call: Call, node: Node, method: str, path: str) -> None:
    """Not even which paths there are."""
    told = call(method, path, {"all": True, "becomes": "unhealthy"}, "")
    assert (told.status, told.what) == (401, "there is no token")
    assert broken(node) == {}


@pytest.mark.parametrize("token", ["wrong", TOKEN[:-1], f"{TOKEN}0", TOKEN.upper(), "ü" * 16])
def test_a_wrong_token_lets_nobody_in(call: Call, node: Node, token: str) -> None:
    """However near it is."""
    told = call("POST", "/v1/health", {"all": True, "becomes": "unhealthy"}, token)
    assert (told.status, told.what) == (401, "the token is wrong")
    assert broken(node) == {}


@pytest.mark.parametrize(
    ("authorization", "own"),
    [
        (f"Bearer {TOKEN}", ""),
        (f"bearer {TOKEN}", ""),
        (f"Bearer  {TOKEN}", ""),
        ("", TOKEN),
        ("Bearer other", TOKEN),
    ],
)
def test_the_token_comes_in_either_header(tmp_path: Path, authorization: str, own: str) -> None:
    """Authorization is for the plugin's own callers; the API server's proxy keeps it to itself."""
    (tmp_path / "token").write_text(TOKEN)
    TokenFile(tmp_path / "token").require(authorization, own)


@pytest.mark.parametrize(
    ("authorization", "own"),
    [(f"Bearer {TOKEN}", "other"), (f"Basic {TOKEN}", ""), (TOKEN, ""), ("", "")],
)
def test_the_token_comes_in_no_other_way(tmp_path: Path, authorization: str, own: str) -> None:
    """The header that is for it counts first, and only one scheme."""
    (tmp_path / "token").write_text(TOKEN)
    with pytest.raises(Refusal):
        TokenFile(tmp_path / "token").require(authorization, own)


def test_a_token_that_is_changed_counts_at_once(call: Call, tmp_path: Path) -> None:
    """A Secret that is rotated needs no restart."""
    (tmp_path / "token").write_text(TOKEN[::-1])
    assert call("GET", "/v1/faults").status == 401
    assert call("GET", "/v1/faults", token=TOKEN[::-1]).status == 200


@pytest.mark.parametrize("text", ["", "short"])
def test_a_token_that_was_emptied_lets_nobody_in(call: Call, tmp_path: Path, text: str) -> None:
    """Whatever is shown, nothing above all."""
    (tmp_path / "token").write_text(text)
    assert call("GET", "/v1/faults", token=text).status == 503


@pytest.mark.parametrize("text", ["", " \n", "0123456789abcde"])
def test_a_token_that_is_too_short_is_refused_at_the_start(tmp_path: Path, text: str) -> None:
    """It could be guessed."""
    (tmp_path / "token").write_text(text)
    with pytest.raises(WrongUse, match=r"^the token is too short$"):
        TokenFile(tmp_path / "token")


def pipe(file: Path) -> None:
    """Put a pipe in the place of a file."""
    file.unlink(missing_ok=True)
    os.mkfifo(file)


def folder(file: Path) -> None:
    """Put a folder in the place of a file."""
    file.unlink(missing_ok=True)
    file.mkdir()


def long(file: Path) -> None:
    """Write a byte more than is read."""
    file.write_text("x" * 4097)


NO_TOKENS: Final = [
    (pipe, "it is no regular file"),
    (folder, "it is no regular file"),
    (long, "it has more than 4096 bytes"),
]


@pytest.mark.parametrize(("put", "seen"), NO_TOKENS)
def test_a_token_file_that_is_none_keeps_the_plugin_from_starting(
    tmp_path: Path, put: Callable[[Path], None], seen: str
) -> None:
    """Nobody waits for what may never come, or reads on and on."""
    put(tmp_path / "token")
    with pytest.raises(NotReady, match=r"^the token file cannot be read$") as caught:
        TokenFile(tmp_path / "token")
    assert seen in caught.value.seen


@pytest.mark.parametrize(("put", "seen"), NO_TOKENS)
def test_a_token_file_that_became_none_lets_nobody_in(
    call: Call, tmp_path: Path, put: Callable[[Path], None], seen: str
) -> None:
    """The call is answered, and the next one too."""
    put(tmp_path / "token")
    for _ in range(2):
        told = call("GET", "/v1/faults")
        assert (told.status, seen in told.body["error"]["seen"]) == (503, True)


def test_a_token_may_be_long(tmp_path: Path) -> None:
    """As long as the file may be."""
    (tmp_path / "token").write_text("x" * 4096)
    TokenFile(tmp_path / "token").require("", "x" * 4096)


def test_a_token_file_that_is_missing_is_told_at_the_start(tmp_path: Path) -> None:
    """With the system's own words."""
    with pytest.raises(NotReady, match=r"^the token file cannot be read$") as caught:
        TokenFile(tmp_path / "none")
    assert "No such file" in caught.value.seen


@pytest.mark.parametrize(
    ("method", "path", "status", "what"),
    [
        ("GET", "/v1", 404, "there is nothing at /v1"),
        ("GET", "/v1/node/", 404, "there is nothing at /v1/node/"),
        ("GET", "/v1/health", 405, "/v1/health does not take GET"),
        ("HEAD", "/v1/node", 405, "/v1/node does not take HEAD"),
        ("POST", "/healthz", 405, "/healthz does not take POST"),
        ("HEAD", "/readyz", 405, "/readyz does not take HEAD"),
        ("GET", "/v1/journal?since=x", 400, "since must be a whole number from 0"),
        ("GET", "/v1/journal?limit=1001", 400, "limit must be a whole number from 1 to 1000"),
        ("GET", "/v1/journal?first=1", 400, "first is not known: since and limit are"),
    ],
)
def test_a_call_that_makes_no_sense_is_told(
    call: Call, method: str, path: str, status: int, what: str
) -> None:
    """With what would make some."""
    told = call(method, path)
    assert (told.status, what in told.what) == (status, True)
    assert told.body["error"]["seen"]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"", "the body is no JSON"),
        (b"{", "the body is no JSON"),
        (b"\xff", "the body is no JSON"),
        (b'{"a": NaN}', "the body is no JSON"),
        (b'{"a": 1, "a": 2}', "the body is no JSON"),
        (b"[" * 50_000, "the body is no JSON"),
        (b'{"\\ud800": 1}', "a name, or another text, cannot be written in UTF-8"),
        (
            b'{"all": true, "becomes": "\\udfff"}',
            "a name, or another text, cannot be written in UTF-8",
        ),
        (b"[]", "as a whole must be a mapping"),
        (b"null", "as a whole must be a mapping"),
    ],
)
def test_a_body_that_is_malformed_is_told(call: Call, node: Node, body: bytes, what: str) -> None:
    """Whatever is sent, nothing has changed."""
    told = call("POST", "/v1/health", body)
    assert (told.status, told.what) == (400, what)
    assert broken(node) == {}


@pytest.mark.parametrize(
    "encoding",
    ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"],
)
def test_a_body_is_utf8(call: Call, node: Node, encoding: str) -> None:
    """Nobody guesses what else it could be."""
    body = '{"all": true, "becomes": "unhealthy"}'.encode(encoding)
    told = call("POST", "/v1/health", body)
    assert (told.status, told.what) == (400, "the body is no JSON")
    rule = "JSON is UTF-8, without a byte order mark (RFC 8259, section 8.1)"
    assert told.body["error"]["seen"].startswith(rule)
    assert broken(node) == {}


def test_half_a_character_is_shown(call: Call) -> None:
    """As a shell passes a byte on that is not UTF-8, and in words for who typed it there."""
    told = call("POST", "/v1/health", b'{"devices": ["x/\\udcff"], "becomes": "unhealthy"}')
    assert told.body["error"] == {
        "what": "a name, or another text, cannot be written in UTF-8",
        "where": "the request's body",
        "seen": "it has '\\udcff', which is half of a character",
        "remedy": "give it in UTF-8: nothing was changed",
    }


@pytest.mark.parametrize("character", ["é", "昇", "\U0001f525", "\\u0000"])
def test_a_body_may_have_any_character(call: Call, character: str) -> None:
    """JSON writes the zero with letters."""
    body = f'{{"devices": ["{character}"], "becomes": "unhealthy"}}'.encode()
    named = "\0" if character == "\\u0000" else character
    assert call("POST", "/v1/health", body).what == f"this node has no device {named!r}"


LONG: Final = "x" * 8000


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"/metrics?dcgm={LONG}", None),
        ("GET", f"/metrics?{LONG}=1", None),
        ("GET", f"/v1/journal?since={LONG}", None),
        ("GET", f"/v1/journal?{LONG}=1", None),
        ("GET", f"/{LONG}", None),
        ("GET", f"/v1/faults/{LONG}", None),
        ("DELETE", f"/v1/faults/{LONG}", None),
        ("POST", "/v1/health", {LONG: 1}),
        ("POST", "/v1/health", {"devices": [LONG], "becomes": "unhealthy"}),
        ("POST", "/v1/health", {"all": True, "becomes": LONG}),
        ("POST", "/v1/health", {"all": True, "becomes": "unhealthy", "resource": LONG}),
        ("POST", "/v1/health", {"all": True, "becomes": "unhealthy", "ecc": LONG}),
        ("POST", "/v1/health", {"all": True, "becomes": "unhealthy", "code": LONG}),
        ("POST", "/v1/cards", {"add": {LONG: 1}}),
        ("POST", "/v1/cards", {"add": {"pool": LONG, "count": 1}}),
        ("POST", "/v1/faults", {"call": LONG, "hang": True}),
        ("POST", "/v1/faults", {"call": "Allocate", "fails": LONG}),
        ("POST", "/v1/faults", {"call": "Allocate", "delay": LONG}),
        ("POST", "/v1/sockets/remove", {"resource": LONG}),
        ("POST", "/v1/crash", {"exitCode": LONG}),
    ],
)
def test_what_was_sent_is_not_repeated_at_length(
    call: Call, method: str, path: str, body: object
) -> None:
    """An answer says what is wrong, and of that only the beginning."""
    told = call(method, path, body)
    assert told.status >= 400
    assert len(str(told.body)) < 1000


def test_the_node_is_seen_whole(call: Call, node: Node) -> None:
    """Its resources with their devices, and what is unusual about it."""
    node.readiness.set_ready(GPU, ready=True)
    call("POST", "/v1/health", {"cards": ["nvidia/2"], "becomes": "unhealthy", "xid": 79})
    node.inventory.board.reset([node.inventory.resources[0].devices[2].unit])
    seen = call("GET", "/v1/node").body
    gpu, plain = seen.pop("resources")
    (uptime, time) = seen.pop("uptimeSeconds"), seen.pop("time")
    assert uptime > 0
    assert time.endswith("+00:00")
    assert seen == {
        "node": "worker",
        "version": __version__,
        "ready": False,
        "policy": "recovers",
        "unplugged": [],
        "added": {},
        "flaps": [],
        "problems": [],
    }
    facts = ("name", "pool", "registered", "count", "healthy")
    assert [gpu[each] for each in facts] == [GPU, "nvidia", True, 3, 2]
    assert [plain[each] for each in facts] == [PLAIN, "plain", False, 2, 2]
    device = node.inventory.resources[0].devices[2]
    assert gpu["devices"][2] == {
        "id": device.id,
        "unit": device.unit,
        "card": device.card.uid,
        "index": 2,
        "pool": "nvidia",
        "healthy": False,
        "breakage": "xid 79",
        "resets": 1,
        "numa": 1,
        "partition": None,
        "replica": None,
    }


def test_the_version_is_the_labs() -> None:
    """One is released with the other."""
    assert __version__ == lab.__version__


def test_what_is_unusual_is_seen(call: Call, node: Node) -> None:
    """Cards that are out or too many, flaps that go on, a state that made no sense."""
    call("POST", "/v1/cards", {"unplug": ["plain/0"]})
    call("POST", "/v1/cards", {"add": {"pool": "plain", "count": 1}})
    flap = {"cards": ["plain/1"], "becomes": "toggled", "every": "1m", "times": 3}
    call("POST", "/v1/health", flap)
    node.inventory.set_aside = Path("/state/hardware.json.corrupt-1")
    seen = call("GET", "/v1/node").body
    assert [card["index"] for card in seen["unplugged"]] == [0]
    assert seen["added"] == {"plain": 1}
    assert seen["flaps"][0]["every"] == "60s"
    assert seen["problems"] == [
        "the file of the hardware's state made no sense: it is now /state/hardware.json.corrupt-1"
    ]


def test_many_devices_are_one_list(call: Call) -> None:
    """However many pieces the answer has."""
    call("POST", "/v1/cards", {"add": {"pool": "plain", "count": 499}})
    plain = call("GET", "/v1/node").body["resources"][1]
    assert [device["index"] for device in plain["devices"]] == list(range(501))


def test_the_journal_is_read_on_and_on(call: Call, node: Node) -> None:
    """Each answer has the number to ask for next, and the calls that have not ended."""
    journal = node.switchboard.journal
    for _ in range(3):
        with journal.recording(Record("Allocate", GPU, Empty())):
            pass
    with journal.recording(Record("ListAndWatch", GPU, Empty())):
        first = call("GET", "/v1/journal?limit=2").body
        rest = call("GET", f"/v1/journal?since={first['next']}").body
    assert [[each["n"] for each in part["calls"]] for part in (first, rest)] == [[1, 2], [3]]
    assert (rest["next"], [each["call"] for each in rest["open"]]) == (4, ["ListAndWatch"])


def test_a_socket_is_removed_on_command(call: Call, sockets: Sockets) -> None:
    """Of a resource that has one."""
    assert call("POST", "/v1/sockets/remove", {"resource": GPU}).body == {"removed": GPU}
    assert sockets.there == set()
    told = call("POST", "/v1/sockets/remove", {"resource": PLAIN})
    assert (told.status, told.what) == (409, f"{PLAIN} has no socket at the moment")
    assert call("POST", "/v1/sockets/remove", {"resource": "a.com/b"}).status == 404


def test_everything_is_cleared(call: Call, node: Node) -> None:
    """Rules, flaps, breakages, and cards that came or went."""
    call("POST", "/v1/faults", {"call": "Allocate", "hang": True})
    call("POST", "/v1/health", {"cards": ["nvidia/2"], "becomes": "unhealthy"})
    call("POST", "/v1/cards", {"unplug": ["plain/0"]})
    call("POST", "/v1/cards", {"add": {"pool": "nvidia", "count": 1}})
    flap = {"cards": ["plain/1"], "becomes": "toggled", "every": "1m", "times": 3}
    call("POST", "/v1/health", flap)
    wait = node.script.turns()
    assert call("POST", "/v1/clear").body == {"rules": 1, "flaps": len(wait), "sticky": False}
    assert [len(resource.devices) for resource in node.inventory.resources] == [3, 2]
    assert (node.switchboard.book.entries(), node.script.turns()) == ((), ())


def test_flaps_are_forgotten_before_hardware_is_mended(
    call: Call, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or one of them could break again what was mended already."""
    flap = {"cards": ["plain/1"], "becomes": "toggled", "every": "1m", "times": 3}
    call("POST", "/v1/health", flap)
    left: list[int] = []
    monkeypatch.setattr(Board, "clear", lambda _: left.append(len(node.script.turns())))
    call("POST", "/v1/clear")
    assert left == [0]


def test_anyone_may_read_the_metrics(routes: Routes) -> None:
    """Prometheus has no token of ours."""
    answer = routes.answer(Request("GET", "/metrics", {}, "", "", lambda: b""))
    assert answer.content_type == "text/plain; version=0.0.4; charset=utf-8"
    assert b"".join(answer.pieces).startswith(b"# HELP DCGM_")
