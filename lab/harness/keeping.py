"""Files that are kept of a test: whole or not there, and whatever was said in it.

Python reads bytes that are no UTF-8 as halves of a surrogate pair, which no file can have. They
are written as escapes, so that who reads it sees what they were.
"""

import json
import re
from pathlib import Path
from typing import Final

from fake_plugin.files.replacement import replace

_MODE: Final = 0o644
_HALVES: Final = re.compile(r"[\ud800-\udfff]")


def keep(file: Path, content: object) -> None:
    """Write a text, or what JSON is made of, in the place of what is there; raises `OSError`."""
    if isinstance(content, str):
        text = _escaped(content, "\\")
    else:
        # One backslash would be JSON's own escape, which is read as the half again.
        text = _escaped(json.dumps(content, indent=1, ensure_ascii=False), "\\\\")
    file.parent.mkdir(parents=True, exist_ok=True)
    replace(file, (text, "\n"), _MODE)


def _escaped(text: str, sign: str) -> str:
    return _HALVES.sub(lambda found: f"{sign}u{ord(found[0]):04x}", text)
