"""What a program has printed last, kept in memory, however much it prints.

It prints into a pipe that is emptied as it fills: neither memory nor disk grow with what comes, and
who prints does not wait for us.
"""

import os
import select
import threading
from typing import IO, Final

_KEPT_BYTES: Final = 16 * 1024
_PIECE_BYTES: Final = 64 * 1024
#: What is in a pipe at most, of anybody but root: see pipe(7).
_PIPE_BYTES: Final = 1024 * 1024


class LastOutput:
    """The end of what is written to `writer`, from then on until everybody has closed that."""

    def __init__(self) -> None:
        self._reader, writer = os.pipe()
        os.set_blocking(self._reader, False)
        self.writer: Final[IO[bytes]] = os.fdopen(writer, "wb", buffering=0)
        self._kept = b""
        self._is_over = False
        self._lock = threading.Lock()
        threading.Thread(target=self._empty, name="last-output", daemon=True).start()

    def close(self) -> None:
        """Close our own end; what others write is read on."""
        self.writer.close()

    def text(self) -> str:
        """Return the end of all that was written before, and perhaps of what was written since."""
        with self._lock:
            # Of somebody who writes on and on there is always more.
            for _ in range(_PIPE_BYTES // _PIECE_BYTES):
                if not self._take():
                    break
            return self._kept.decode(errors="replace")

    def _empty(self) -> None:
        ready = select.poll()
        ready.register(self._reader, select.POLLIN)
        while not self._is_over:
            ready.poll()
            with self._lock:
                self._take()
        os.close(self._reader)

    def _take(self) -> bool:
        """Take what is in the pipe; tell whether anything was."""
        if self._is_over:
            return False
        try:
            piece = os.read(self._reader, _PIECE_BYTES)
        except BlockingIOError:
            return False
        self._is_over = not piece
        self._kept = (self._kept + piece)[-_KEPT_BYTES:]
        return bool(piece)
