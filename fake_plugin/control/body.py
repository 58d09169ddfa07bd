"""What a call asks for: a JSON object, taken as strictly as the fleet file."""

import codecs
import json
from http import HTTPStatus
from pathlib import Path
from typing import ClassVar, Final, NoReturn

from fake_plugin.control.refusal import Refusal
from fake_plugin.files.mapping import Mapping

WHERE = "the request's body"
_ENCODING: Final = "JSON is UTF-8, without a byte order mark (RFC 8259, section 8.1)"


class Body(Mapping):
    """The object; what it raises is `WrongUse`, as of any mapping, and answered with 400."""

    noun: ClassVar[str] = ""
    whole: ClassVar[str] = "the body"
    remedy: ClassVar[str] = "correct the body: nothing was changed"

    @classmethod
    def parse(cls, data: bytes) -> "Body":
        """Return the object that the bytes are; raises `Refusal` or `WrongUse`."""
        try:
            value = json.loads(
                _decoded(data), object_pairs_hook=_without_twins, parse_constant=_no_constant
            )
            # Or no answer could repeat it.
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as problem:
            raise Refusal(
                HTTPStatus.BAD_REQUEST,
                "a name, or another text, cannot be written in UTF-8",
                where=WHERE,
                seen=f"it has {problem.object[problem.start]!a}, which is half of a character",
                remedy="give it in UTF-8: nothing was changed",
            ) from problem
        except (ValueError, RecursionError) as problem:
            raise Refusal(
                HTTPStatus.BAD_REQUEST,
                "the body is no JSON",
                where=WHERE,
                seen=str(problem) or type(problem).__name__,
                remedy=cls.remedy,
            ) from problem
        return cls.of(Path(WHERE), "", value)


def _decoded(data: bytes) -> str:
    """Return the text; `json` alone would guess at UTF-16 and UTF-32."""
    # A text of JSON has zeros in these two only: it writes that character as \u0000.
    if data.startswith(codecs.BOM_UTF8) or 0 in data:
        raise ValueError(_ENCODING)
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        raise ValueError(f"{_ENCODING}: {problem}") from problem


def _without_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}")
