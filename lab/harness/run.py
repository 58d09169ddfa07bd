"""Some tests or scenarios that run together, and write their results into one folder."""

import secrets
from dataclasses import dataclass
from os import getpid
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """A run; `folder` is where its results go, and `name` tells it from others that wrote there.

    `options` are those of the command line that said which lab it has, to run a test of it again.
    """

    folder: Path
    name: str
    options: tuple[str, ...] = ()


def new_name(program: str) -> str:
    """Return a name for a run of this program."""
    return f"{program}-{getpid()}-{secrets.token_hex(2)}"
