"""A call and its answer, free of the server that carries them."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TypeAlias

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"


@dataclass(frozen=True)
class Request:
    """A call. `body` reads the content, and raises `Refusal` where it is not to be had."""

    method: str
    path: str
    query: Mapping[str, str]
    authorization: str
    token: str = field(repr=False)
    body: Callable[[], bytes]


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Answer:
    """The answer, in pieces: that about 20 000 devices is never whole in memory.

    `afterwards` is done once it has been written, or the caller has gone.
    """

    pieces: Iterable[bytes]
    status: HTTPStatus = HTTPStatus.OK
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    afterwards: Callable[[], None] = _nothing


def answer(
    value: Json, status: HTTPStatus = HTTPStatus.OK, headers: Mapping[str, str] | None = None
) -> Answer:
    """Return an answer that is one JSON value."""
    return Answer([line(value) + b"\n"], status, headers=headers or {})


def line(value: Json) -> bytes:
    """Return a JSON value as bytes."""
    return json.dumps(value, ensure_ascii=False).encode()
