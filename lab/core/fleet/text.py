"""The text of a fleet file, or of one that a fleet names."""

from pathlib import Path
from typing import Final

from lab.core.fleet.findings import Finding, FleetError, Position

#: A fleet is a page of text: what is larger is another file.
MOST_BYTES: Final = 1024 * 1024


def text_of(path: Path) -> str:
    """Return the text of a file. Raises `FleetError` where it cannot be had."""
    source = str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        unread = Finding((), reason)
        raise FleetError(source, [unread], "the fleet file cannot be read") from error
    if len(raw) > MOST_BYTES:
        raise FleetError(source, [Finding((), "is too large", f"at most {MOST_BYTES} bytes")])
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start].split(b"\n")
        position = Position(len(before), len(before[-1].decode(errors="replace")) + 1)
        what = f"holds the byte 0x{raw[error.start]:02X}, which is not UTF-8"
        remedy = "save the file as UTF-8 text"
        finding = Finding((), what, remedy=remedy, position=position)
        raise FleetError(source, [finding]) from error
