"""Runs a program on Linux, and ends with it all that it has started, wherever that has gone.

A process that leaves its session, or whose parent has ended, is in no group that could be ended.
But Linux hands the children of who ends to the nearest ancestor that asks for them, and this one
does: what it finds among its own children is the program's, and nobody else's. In a pod the same
happens: with the program the container is over.

It runs as a script without anything of ours (`kept` makes the command line), so that it is there
at once. SIGTERM kills the program, and so does the end of who has started this; SIGUSR1 hands the
program a SIGTERM. It ends as the program did.
"""

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

#: What has this hand on a SIGTERM.
PASS_ON: Final = signal.SIGUSR1
_OBEYED: Final = (signal.SIGTERM, PASS_ON)
#: As a shell exits where it cannot run what it finds.
_NOT_RUN: Final = 126
#: From linux/prctl.h.
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
#: Python ignores these, and the program is not to: see `restore_signals` of `subprocess`.
_IGNORED: Final = (signal.SIGPIPE, signal.SIGXFSZ)


def kept(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the command line of a program that is kept."""
    return (sys.executable, "-I", "-S", __file__, *argv)


def _main(argv: list[str]) -> NoReturn:
    signal.pthread_sigmask(signal.SIG_BLOCK, _OBEYED)
    system = ctypes.CDLL(None)
    system.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    system.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
    try:
        program = os.posix_spawnp(
            argv[0], argv, os.environ, setsid=True, setsigmask=(), setsigdef=_IGNORED
        )
    except OSError as problem:
        sys.stderr.write(f"{argv[0]}: {problem.strerror}\n")
        sys.exit(_NOT_RUN)
    signal.signal(signal.SIGTERM, lambda *_: _send(program, signal.SIGKILL))
    signal.signal(PASS_ON, lambda *_: _send(program, signal.SIGTERM))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _OBEYED)
    # Others that have ended, and were handed to us, are put away meanwhile.
    while (ended := os.waitpid(-1, 0))[0] != program:
        pass
    signal.pthread_sigmask(signal.SIG_BLOCK, _OBEYED)
    _end_others()
    _end_as(os.waitstatus_to_exitcode(ended[1]))


def _end_others() -> None:
    """Kill our children, and theirs as they become ours; give up on who may not be killed."""
    while any(_send(each, signal.SIGKILL) for each in _children()):
        os.waitpid(-1, 0)


def _children() -> Iterator[int]:
    mine = str(os.getpid())
    for each in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name of the program, in parentheses, may have anything in it.
            _, parent, *_ = each.read_text(errors="replace").rpartition(")")[2].split()
            if parent == mine:
                yield int(each.parent.name)


def _send(process: int, number: signal.Signals) -> bool:
    with suppress(OSError):
        os.kill(process, number)
        return True
    return False


def _end_as(code: int) -> NoReturn:
    if code < 0:
        # The program has left its core already, if it was to leave one.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    _main(sys.argv[1:])
