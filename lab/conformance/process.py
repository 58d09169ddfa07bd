"""One run of the plugin's program."""

import os
import signal
import subprocess
from contextlib import suppress
from typing import Final

from fake_plugin.shortening import cut
from lab.conformance.last_output import LastOutput
from lab.conformance.printable import printable

_LAST_LINES: Final = 10
#: Of each of these lines.
_CHARACTERS: Final = 500


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
            return f"it ended by {signal.Signals(-code).name}"
        return f"it ended with exit code {code}"

    @property
    def last_words(self) -> str:
        """Return the last lines that it printed, of each its beginning, all of it to be seen."""
        said = self._output.text().strip().splitlines()[-_LAST_LINES:]
        return "\n".join(printable(cut(each, _CHARACTERS)) for each in said) or (
            "(it printed nothing)"
        )

    def terminate(self) -> None:
        """Send SIGTERM to it alone, as a runtime does at the end of a pod."""
        self._child.terminate()

    def kill(self) -> None:
        """Kill it and all that it has started, as a runtime does, and wait for its end."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
