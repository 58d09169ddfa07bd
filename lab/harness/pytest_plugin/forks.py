"""Processes that a test forks, and that go on as pytest does when they return.

Such a child has all that its parent has: the lab, what is to be undone, the run that takes labs
down at its end. None of it is its own, so it ends where the test would.
"""

import os
import sys
from contextlib import suppress
from typing import Final, NoReturn

import pytest

#: The process in which a test has begun. It need not be that of the session: a plugin may fork one
#: for each test.
_OWNER: Final = pytest.StashKey[int]()
_EXIT_CODE: Final = 1


def note_owner(item: pytest.Item) -> None:
    """Let a test belong to this process."""
    item.stash[_OWNER] = os.getpid()


def end_forked(item: pytest.Item) -> None:
    """End this process where the test has begun in another one."""
    if item.stash.get(_OWNER, os.getpid()) != os.getpid():
        end(f"forked by {item.nodeid}")


def end(which: str) -> NoReturn:
    """End this process, and nothing of what it has with its parent."""
    said = (
        f"\ngpu-lab: the process {os.getpid()}, {which}, goes on as pytest does, whose labs are "
        "not its own: it is ended here; let it end by os._exit() where its work is done\n"
    )
    with suppress(OSError):
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, said.encode())
    os._exit(_EXIT_CODE)
