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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from lab.core.errors import CheckFailed, Interrupted, NotReady, TimedOut

#: How long a child may take to end after SIGTERM before SIGKILL.
GRACE_SECONDS: Final = 10.0
_QUOTED_LINES: Final = 15
_LOOK_SECONDS: Final = 0.05


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
        return _tail(self.stderr) or _tail(self.stdout) or "(it printed nothing)"


class ProcessFailed(CheckFailed):
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
        #: The children, and the seconds that what each has started may take to finish.
        self._running: dict[subprocess.Popen[bytes], float] = {}
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
        patience: float = 0,
    ) -> Finished:
        """Run a program to its end and return what it printed.

        `stdin` is bytes or an open file (default: empty), `stdout` an open file instead of text,
        `env` is added to this process's environment, `timeout` is in seconds, `on_line` is told
        each line of stderr as it comes. A program that is ended early takes along what is in its
        process group, after `patience` seconds in which that may finish.

        Raises `NotReady` where the program is missing, `ProcessFailed` on an exit code that is not
        0 (unless `check` is off), `TimedOut`, and `Interrupted` after `cancel`.
        """
        command = tuple(os.fspath(argument) for argument in argv)
        started = time.monotonic()
        child = self._start(command, stdin, stdout, cwd, env, patience=patience)
        try:
            out, err = _communicate(
                child, stdin if isinstance(stdin, bytes) else None, timeout, on_line
            )
        except subprocess.TimeoutExpired as error:
            end(child, patience)
            raise TimedOut(
                f"{Path(command[0]).name} did not end within {timeout:g} s",
                where=pasteable(command),
                seen=_tail(_text(error.stderr)),
            ) from error
        except BaseException:
            end(child, patience)
            raise
        finally:
            _close(child)
            with self._lock:
                self._running.pop(child)
        if self._cancelled:
            raise Interrupted("interrupted", where=pasteable(command))
        finished = Finished(command, child.returncode, out, err, time.monotonic() - started)
        if check and not finished.ok:
            raise ProcessFailed(finished)
        return finished

    @contextmanager
    def beside(
        self,
        argv: Sequence[str | os.PathLike[str]],
        *,
        output: IO[bytes],
        env: Mapping[str, str] | None = None,
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Run a program beside the body, and end it and its process group with the body.

        What has left the group, as a daemon does, runs on. Both outputs of the program go to the
        open file `output`; `env` is added to this process's environment.

        Raises `NotReady` where the program is missing, and `Interrupted` after `cancel`. A `cancel`
        that comes later ends the program, and the body goes on without it.
        """
        command = tuple(os.fspath(argument) for argument in argv)
        child = self._start(command, None, output, None, env, patience=0, stderr=subprocess.STDOUT)
        try:
            yield child
        finally:
            end(child)
            with self._lock:
                self._running.pop(child)

    def cancel(self) -> None:
        """End every running child (SIGTERM, later SIGKILL) and refuse new ones."""
        with self._lock:
            self._cancelled = True
            running = dict(self._running)
        for child, patience in running.items():
            _ask_to_end(child, patience)
        for child, patience in running.items():
            end(child, patience)

    def _start(  # noqa: PLR0913 - as `run`
        self,
        command: tuple[str, ...],
        stdin: IO[bytes] | bytes | None,
        stdout: IO[bytes] | None,
        cwd: Path | None,
        env: Mapping[str, str] | None,
        *,
        patience: float,
        stderr: int = subprocess.PIPE,
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
                    stderr=stderr,
                    cwd=cwd,
                    env={**os.environ, **env} if env else None,
                    start_new_session=True,
                )
            except OSError as error:
                raise NotReady(
                    f"the program {command[0]} cannot be started",
                    where=pasteable(command),
                    seen=str(error),
                ) from error
            self._running[child] = patience
            return child


def end(child: subprocess.Popen[bytes], patience: float = 0) -> None:
    """Make sure that the child and its group have ended.

    SIGTERM, and SIGKILL for what is left of the group when the child has gone or a grace is over.
    With `patience` only the child gets the SIGTERM, and its group that many seconds to finish.
    """
    if child.poll() is None:
        _ask_to_end(child, patience)
        with suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_SECONDS)
    ends = time.monotonic() + patience
    while _group_lives(child) and time.monotonic() < ends:
        time.sleep(_LOOK_SECONDS)
    _signal_group(child, signal.SIGKILL)
    child.wait()


def _ask_to_end(child: subprocess.Popen[bytes], patience: float) -> None:
    if patience:
        child.terminate()
    else:
        _signal_group(child, signal.SIGTERM)


def _group_lives(child: subprocess.Popen[bytes]) -> bool:
    try:
        os.killpg(child.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)


def _communicate(
    child: subprocess.Popen[bytes],
    stdin: bytes | None,
    timeout: float | None,
    on_line: Callable[[str], None] | None,
) -> tuple[str, str]:
    if on_line is None:
        out, err = child.communicate(stdin, timeout)
        return _text(out), _text(err)
    started = time.monotonic()
    lines: list[bytes] = []
    # Taken away from the child, so that `communicate` leaves this one to the thread.
    stderr, child.stderr = child.stderr, None
    reader = threading.Thread(target=_read_lines, args=(stderr, lines, on_line), daemon=True)
    reader.start()
    try:
        out, _ = child.communicate(stdin, timeout)
        # A grandchild can keep stderr open for longer than the child lives.
        _join(reader, child, timeout, started)
    except subprocess.TimeoutExpired as error:
        error.stderr = b"".join(lines)
        raise
    return _text(out), _text(b"".join(lines))


def _join(
    reader: threading.Thread, child: subprocess.Popen[bytes], timeout: float | None, started: float
) -> None:
    reader.join(None if timeout is None else max(0, started + timeout - time.monotonic()))
    if timeout is not None and reader.is_alive():
        raise subprocess.TimeoutExpired(child.args, timeout)


def _read_lines(stderr: IO[bytes], lines: list[bytes], on_line: Callable[[str], None]) -> None:
    with stderr:
        for raw in stderr:
            lines.append(raw)
            on_line(_text(raw).rstrip())


def _close(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            # What was still to be written to a child that has gone is of no use to anybody.
            with suppress(BrokenPipeError):
                pipe.close()


def _tail(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-_QUOTED_LINES:])


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace")
