"""The exit codes of `gpulab`, frozen: scripts and CI rely on them."""

from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """What a finished `gpulab` tells its caller."""

    #: Everything that was asked for is done.
    DONE = 0
    #: A check failed, or something was left undone (a clean-up that failed, for one).
    CHECK_FAILED = 1
    #: The command line or a file of the user is wrong.
    USAGE = 2
    #: This machine lacks something; `gpulab doctor` names it.
    NOT_READY = 3
    #: A wait ended without what was waited for.
    TIMED_OUT = 4
    #: Ctrl-C or SIGTERM.
    INTERRUPTED = 130


#: Of a process that SIGKILL has ended, as shells and container runtimes tell it.
KILLED: Final = 137
