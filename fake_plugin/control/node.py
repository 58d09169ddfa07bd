"""What the control API acts on: everything of one node that can be seen or changed."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from fake_plugin.control.refusal import Refusal
from fake_plugin.hardware.script import Script
from fake_plugin.resources.inventory import Inventory
from fake_plugin.serving.interceptor import Switchboard
from fake_plugin.serving.readiness import Readiness


@dataclass(frozen=True)
class Node:
    """The parts of the plugin that serves a node.

    `remove_socket` removes that of a resource, and returns False where there is none. `end` ends
    the process with an exit code, at once.
    """

    inventory: Inventory
    switchboard: Switchboard
    script: Script
    readiness: Readiness
    remove_socket: Callable[[str], bool]
    end: Callable[[int], None]
    #: One change at a time: what a call has checked still holds when it makes its change.
    turn: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def written(state: str) -> Iterator[None]:
    """Have a change that cannot be written to disk refused, in the system's words."""
    try:
        yield
    except OSError as problem:
        raise Refusal(
            HTTPStatus.INSUFFICIENT_STORAGE,
            "the change cannot be written, and has not happened",
            where=state,
            seen=str(problem),
            remedy="make room or give the right to write there",
        ) from problem
