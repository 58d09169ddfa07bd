"""What a call asks for: a JSON object, taken as strictly as the fleet file."""

import json
from http import HTTPStatus
from pathlib import Path
from typing import ClassVar, NoReturn

from fake_plugin.control.refusal import Refusal
from fake_plugin.mapping import Mapping

WHERE = "the request's body"


class Body(Mapping):
    """The object; what it raises is `WrongUse`, as of any mapping, and answered with 400."""

    noun: ClassVar[str] = ""
    whole: ClassVar[str] = "the body"
    remedy: ClassVar[str] = "correct the body: nothing was changed"

    @classmethod
    def parse(cls, data: bytes) -> "Body":
        """Return the object that the bytes are; raises `Refusal` or `WrongUse`."""
        try:
            value = json.loads(data, object_pairs_hook=_without_twins, parse_constant=_no_constant)
            # JSON can spell half of a character of two, which no answer could repeat.
            json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as problem:
            raise Refusal(
                HTTPStatus.BAD_REQUEST,
                "the body is no JSON",
                where=WHERE,
                seen=str(problem) or type(problem).__name__,
                remedy=cls.remedy,
            ) from problem
        return cls.of(Path(WHERE), "", value)


def _without_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}")
