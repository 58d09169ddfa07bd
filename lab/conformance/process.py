"""One run of the plugin's program."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

_LAST_LINES: Final = 10


class PluginProcess:
    """A program that runs until it ends by itself, or is made to; `log` has what it says."""

    def __init__(self, child: subprocess.Popen[bytes], log: Path) -> None:
        self._child = child
        self._log = log

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
        """Return the last lines that it printed."""
        said = self._log.read_text(errors="replace").strip().splitlines()
        return "\n".join(said[-_LAST_LINES:]) or "(it printed nothing)"

    def terminate(self) -> None:
        """Send SIGTERM to it alone, as a runtime does at the end of a pod."""
        self._child.terminate()

    def kill(self) -> None:
        """Kill it and all that it has started, as a runtime does, and wait for its end."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
