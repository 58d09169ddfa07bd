"""One run of the plugin's program."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Final

from fake_plugin.shortening import cut
from lab.conformance.command import Launch
from lab.conformance.keeper import PASS_ON, kept
from lab.conformance.last_output import LastOutput
from lab.core.errors import NotReady
from lab.core.visible import visible
from lab.host.processes import Processes, pasteable

_LAST_LINES: Final = 10
#: Of each of these lines.
_CHARACTERS: Final = 500
_IS_KEPT: Final = sys.platform == "linux"


@contextmanager
def running(launch: Launch, processes: Processes) -> Iterator["PluginProcess"]:
    """Run the plugin beside the body, and end it with that, and all that it has started.

    On other systems than Linux what has left the plugin's group stays. Raises `NotReady` where the
    program is missing.
    """
    if shutil.which(launch.asked[0]) is None:
        raise NotReady(
            f"the program {launch.asked[0]} cannot be started",
            where=pasteable(launch.asked),
            seen="there is no such program, or it may not be executed",
            remedy="give its path, or put it on the PATH; the command is run without a shell",
        )
    argv = kept(launch.argv) if _IS_KEPT else launch.argv
    with closing(LastOutput()) as output:
        beside = processes.beside(argv, output=output.writer, env=launch.variables)
        with beside as child:
            # Ours is not the last end that is open.
            output.close()
            process = PluginProcess(child, output)
            try:
                yield process
            finally:
                process.kill()


class PluginProcess:
    """A program that runs until it ends by itself, or is made to; `output` has what it says."""

    def __init__(self, child: subprocess.Popen[bytes], output: LastOutput) -> None:
        self._child = child
        self._output = output

    @property
    def has_ended(self) -> bool:
        """Whether the program is gone."""
        return self.exit_code is not None

    @property
    def exit_code(self) -> int | None:
        """Return how it ended, as `subprocess` tells it: None before, -n after signal n."""
        return self._child.poll()

    @property
    def end(self) -> str:
        """Return how it ended, in words."""
        code = self.exit_code
        if code is None:
            return "it has not ended"
        if code < 0:
            return f"it ended by {_name(-code)}"
        return f"it ended with exit code {code}"

    @property
    def last_words(self) -> str:
        """Return the last lines that it printed, of each its beginning, all of it to be seen."""
        said = self._output.text().strip().splitlines()[-_LAST_LINES:]
        return "\n".join(visible(cut(each, _CHARACTERS)) for each in said) or (
            "(it printed nothing)"
        )

    def terminate(self) -> None:
        """Send SIGTERM to it alone, as a runtime does at the end of a pod."""
        self._child.send_signal(PASS_ON if _IS_KEPT else signal.SIGTERM)

    def kill(self) -> None:
        """Kill it and all that it has started, as a runtime does, and wait for its end."""
        if _IS_KEPT:
            self._child.terminate()
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        # One of those that have no name, from 35 to 63.
        return f"signal {number}"
