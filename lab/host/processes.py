"""The one way to run another program: an argument list, its output kept, its end certain.

Children get a process group of their own, so that a Ctrl-C on the terminal reaches us alone and
we decide what ends when. `Processes.cancel` ends all that run and refuses more, which is how an
interrupted command stops the steps that run beside each other in threads.
"""

import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from lab.core.errors import Interrupted, LabError, NotReady, TimedOut

#: How long a child may take to end after SIGTERM before SIGKILL.
GRACE_SECONDS: Final = 10.0
_QUOTED_LINES: Final = 15


def pasteable(argv: Sequence[str]) -> str:
    """Return the command line as one would type it."""
    return shlex.join(argv)


@dataclass(frozen=True)
class Finished:
    """A child that has ended: its command, exit code, both outputs as text, and seconds."""

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether it exited with 0."""
        return self.returncode == 0

    def tail(self) -> str:
        """Return the last lines that it printed, stderr before stdout."""
        text = self.stderr.strip() or self.stdout.strip() or "(it printed nothing)"
        return "\n".join(text.splitlines()[-_QUOTED_LINES:])


class ProcessFailed(LabError):
    """A child exited with another code than 0."""

    def __init__(self, finished: Finished, what: str = "", remedy: str = "") -> None:
        program = Path(finished.argv[0]).name
        super().__init__(
            what or f"{program} exited with {finished.returncode}",
            where=pasteable(finished.argv),
            seen=finished.tail(),
            remedy=remedy,
        )
        self.finished = finished


class Processes:
    """The children of one command. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled

    def run(  # noqa: PLR0913 - each is a property of a child process
        self,
        argv: Sequence[str | os.PathLike[str]],
        *,
        check: bool = True,
        stdin: IO[bytes] | bytes | None = None,
        stdout: IO[bytes] | None = None,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Finished:
        """Run a program to its end and return what it printed.

        `stdin` is bytes or an open file (default: empty), `stdout` an open file instead of text,
        `env` is added to this process's environment, `timeout` is in seconds, `on_line` is told
        each line of stderr as it comes. Raises `NotReady` where the program is missing,
        `ProcessFailed` on an exit code that is not 0 (unless `check` is off), `TimedOut`, and
        `Interrupted` after `cancel`.
        """
        command = tuple(os.fspath(argument) for argument in argv)
        started = time.monotonic()
        child = self._start(command, stdin, stdout, cwd, env)
        try:
            out, err = _communicate(child, stdin, timeout, on_line)
        except subprocess.TimeoutExpired as error:
            raise TimedOut(
                f"{Path(command[0]).name} did not end within {timeout:g} s",
                where=pasteable(command),
            ) from error
        finally:
            end(child)
            with self._lock:
                self._running.discard(child)
        if self._cancelled:
            raise Interrupted("interrupted", where=pasteable(command))
        finished = Finished(command, child.returncode, out, err, time.monotonic() - started)
        if check and not finished.ok:
            raise ProcessFailed(finished)
        return finished

    def cancel(self) -> None:
        """End every running child (SIGTERM, later SIGKILL) and refuse new ones."""
        with self._lock:
            self._cancelled = True
            running = list(self._running)
        for child in running:
            _signal_group(child, signal.SIGTERM)
        for child in running:
            end(child)

    def _start(
        self,
        command: tuple[str, ...],
        stdin: IO[bytes] | bytes | None,
        stdout: IO[bytes] | None,
        cwd: Path | None,
        env: Mapping[str, str] | None,
    ) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._cancelled:
                raise Interrupted("interrupted", where=pasteable(command))
            try:
                child = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE
                    if isinstance(stdin, bytes)
                    else stdin or subprocess.DEVNULL,
                    stdout=stdout or subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=cwd,
                    env={**os.environ, **env} if env else None,
                    start_new_session=True,
                )
            except FileNotFoundError as error:
                raise NotReady(
                    f"the program {command[0]} is not there", where=pasteable(command)
                ) from error
            self._running.add(child)
            return child


def end(child: subprocess.Popen[bytes]) -> None:
    """Make sure that the child, with its group, has ended: SIGTERM, then SIGKILL after a grace."""
    if child.poll() is None:
        _signal_group(child, signal.SIGTERM)
        try:
            child.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            _signal_group(child, signal.SIGKILL)
            child.wait()


def _signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)


def _communicate(
    child: subprocess.Popen[bytes],
    stdin: IO[bytes] | bytes | None,
    timeout: float | None,
    on_line: Callable[[str], None] | None,
) -> tuple[str, str]:
    if on_line is None:
        out, err = child.communicate(stdin if isinstance(stdin, bytes) else None, timeout)
        return _text(out), _text(err)
    lines: list[str] = []
    reader = threading.Thread(target=_read_lines, args=(child, lines, on_line), daemon=True)
    reader.start()
    try:
        out = child.stdout.read() if child.stdout else b""
        child.wait(timeout)
    finally:
        end(child)
        reader.join(GRACE_SECONDS)
    return _text(out), "".join(lines)


def _read_lines(
    child: subprocess.Popen[bytes], lines: list[str], on_line: Callable[[str], None]
) -> None:
    for raw in child.stderr or ():
        line = _text(raw)
        lines.append(line)
        on_line(line.rstrip())


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace")
