"""Files that are replaced whole: a reader finds the old one or the new one."""

import os
from collections.abc import Iterable
from pathlib import Path


def replace(path: Path, content: Iterable[str], mode: int) -> None:
    """Put a file of that content, in pieces, and mode at `path`.

    Raises OSError; what was there then stays.
    """
    # Two plugins, the old and the new one of a rolling update, may write at once.
    beside = path.with_name(f".{path.name}-{os.urandom(4).hex()}")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.writelines(content)
            os.fchmod(file.fileno(), mode)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
