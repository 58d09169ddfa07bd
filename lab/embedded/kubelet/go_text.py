"""The words of a program in Go, where they are part of what a kubelet says."""

import os
import re
import socket
from pathlib import Path
from typing import Final

import grpc

#: What an expired context says.
DEADLINE_EXCEEDED: Final = "context deadline exceeded"
CANCELED: Final = "context canceled"

_ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
_SMALL: Final = 0x80
_LARGE: Final = 0x10000
#: How gRPC for Python begins to say that nobody is there, that somebody left, and what is too much.
_UNCONNECTED: Final = "failed to connect to all addresses"
_BROKEN: Final = re.compile(
    r"Socket closed|recvmsg:|sendmsg:|Connection reset|GOAWAY|Stream removed"
)
_TOO_LARGE: Final = re.compile(r"(CLIENT: )?Received message larger than max \((\d+) vs\. (\d+)\)")


def quoted(text: str) -> str:
    """Return the text as the verb %q of Go writes it."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    number = ord(character)
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    if number < _SMALL:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < _LARGE else f"\\U{number:08x}"


def rpc_error(code: grpc.StatusCode, details: str, path: Path) -> str:
    """Return what the client of gRPC for Go says of a call to the socket at `path` that failed.

    A plugin's own words come through as they are; those of the client are another library's here,
    and are put as the kubelet's would be.
    """
    return f"rpc error: code = {_code_name(code)} desc = {_description(details, path)}"


def _code_name(code: grpc.StatusCode) -> str:
    if code is grpc.StatusCode.CANCELLED:
        return "Canceled"
    return "OK" if code is grpc.StatusCode.OK else code.name.title().replace("_", "")


def _description(details: str, path: Path) -> str:
    if details.startswith(_UNCONNECTED):
        reason = os.strerror(_connect_error(path)).lower()
        problem = f"dial unix {path}: connect: {reason}"
        return f'connection error: desc = "transport: Error while dialing: {problem}"'
    if found := _TOO_LARGE.search(details):
        return f"grpc: received message larger than max ({found[2]} vs. {found[3]})"
    if _BROKEN.search(details):
        return "error reading from server: EOF"
    if details == "Channel closed!":
        return "grpc: the client connection is closing"
    return details


def _connect_error(path: Path) -> int:
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(str(path))
