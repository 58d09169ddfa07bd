"""The folder of one test's evidence."""

import hashlib
import os
import re
import shutil
from pathlib import Path
from typing import Final

from lab.core.errors import NotReady

_MOST_BYTES: Final = 100
_DIGITS: Final = 8


def made_for(test: str, root: Path) -> Path:
    """Return an empty folder for a test; what an earlier run has left in it goes.

    Raises `NotReady` where it cannot be written.
    """
    path = root / _name(test)
    try:
        if path.exists():
            shutil.rmtree(path)
        path.mkdir(parents=True)
    except OSError as error:
        raise unwritable(path, error) from error
    return path


def require_writable(root: Path) -> None:
    """Make the folder of a run; raises `NotReady` where nothing can be written into it."""
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(root, error) from error
    if not os.access(root, os.W_OK | os.X_OK):
        raise unwritable(root, PermissionError("Permission denied"))


def unwritable(path: Path, error: OSError) -> NotReady:
    """Return the error for a folder that cannot be written."""
    return NotReady(
        "the evidence of a failed test cannot be written",
        where=str(path),
        seen=str(error),
        remedy="make room and the folder writable, or name another one",
        commands=(
            "pytest --lab-evidence=/tmp/lab-evidence",
            "gpulab run --evidence /tmp/lab-evidence",
        ),
    )


def _name(test: str) -> str:
    """Return what a folder can be called: of `tests/test_x.py::test_y[z]` the readable part.

    What is left out would let two tests have one folder, so that a digest of the whole is with it.
    """
    plain = re.sub(r"[^\w.=-]+", "-", test).strip("-.").encode(errors="replace")
    short = plain[-_MOST_BYTES:].decode(errors="ignore")
    if short == test:
        return short
    digest = hashlib.sha256(test.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]
    return f"{short or 'test'}-{digest}"
