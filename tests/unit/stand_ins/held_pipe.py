"""A pipe that tells when all processes that hold it have ended."""

import os
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Hear = Callable[[], bytes]


@contextmanager
def hearing(pipe: Path, seconds: float) -> Iterator[Hear]:
    """Make the pipe, and yield what waits for the next words in it, for so long at most.

    There are none when all who held it have ended.
    """
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    def hear() -> bytes:
        assert select.select([reader], [], [], seconds)[0], "nobody speaks, and somebody lives"
        return os.read(reader, 100)

    try:
        yield hear
    finally:
        os.close(reader)
