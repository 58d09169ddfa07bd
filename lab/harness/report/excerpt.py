"""A text as a page has it: whole, or its beginning and its end."""

from dataclasses import dataclass
from io import SEEK_END, BytesIO
from pathlib import Path
from typing import BinaryIO, Final

_HEAD: Final = 8 * 1024
#: Of a log, the end is what tells how it came to that.
_TAIL: Final = 24 * 1024


@dataclass(frozen=True)
class Excerpt:
    """A text of which `left_out` bytes between `head` and `tail` are missing."""

    head: str
    left_out: int = 0
    tail: str = ""

    @classmethod
    def of_text(cls, text: str) -> "Excerpt":
        """Return what is shown of a text."""
        return _read(BytesIO(text.encode(errors="replace")))

    @classmethod
    def of_file(cls, path: Path) -> "Excerpt":
        """Return what is shown of a file, of which no more is read; raises `OSError`."""
        with path.open("rb") as stream:
            return _read(stream)


def _read(stream: BinaryIO) -> Excerpt:
    size = stream.seek(0, SEEK_END)
    stream.seek(0)
    if size <= _HEAD + _TAIL:
        return Excerpt(_text(stream.read()))
    head = stream.read(_HEAD)
    stream.seek(-_TAIL, SEEK_END)
    tail = stream.read(_TAIL)
    # Half a line looks like a whole one.
    head = head[: head.rfind(b"\n") + 1] or head
    tail = tail[tail.find(b"\n") + 1 :] or tail
    return Excerpt(_text(head), size - len(head) - len(tail), _text(tail))


def _text(found: bytes) -> str:
    return found.decode(errors="replace")
