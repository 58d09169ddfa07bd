"""A headless Chromium, spoken to over two pipes: no port, no library, no profile of anybody's."""

import fcntl
import json
import os
import select
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from tests.leaving_out import leave_out

_PROGRAMS: Final = ("chromium-headless-shell", "chromium", "google-chrome")
_OPTIONS: Final = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",  # there is none for root, and the page is of our own making
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--no-first-run",
)
#: The descriptors at which the browser reads and writes.
_READS: Final = 3
_WRITES: Final = 4
_FREE: Final = 10
_SECONDS: Final = 180
_END: Final = b"\0"


def program() -> str:
    """Return where the browser is; skip the test where there is none."""
    found = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if found is None:
        leave_out("there is no Chromium: it comes with Debian's package chromium-headless-shell")
    return found


class Tab:
    """A tab of the browser: calls of its DevTools protocol, and the events that came meanwhile."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads = reads
        self._writes = writes
        self._number = 0
        self._session = ""
        self._rest = b""
        self.events: list[dict[str, Any]] = []

    def attach(self) -> None:
        """Make the tab."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        made = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = made["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Call a method, and return its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writes, json.dumps(message).encode() + _END)
        while (found := self._message()).get("id") != self._number:
            self.events.append(found)
        assert "error" not in found, found
        result: dict[str, Any] = found["result"]
        return result

    def show(self, file: Path, width: int, theme: str = "light", *, scripts: bool = True) -> None:
        """Show a file in a window that is so wide, and wait until it is there."""
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        wanted = [{"name": "prefers-color-scheme", "value": theme}]
        self.call("Emulation.setEmulatedMedia", features=wanted)
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        self.call("Page.navigate", url=file.as_uri())
        while not any(each.get("method") == "Page.loadEventFired" for each in self.events):
            self.events.append(self._message())

    def tell(self, expression: str) -> Any:  # noqa: ANN401 - any JSON
        """Return what an expression in JavaScript comes to."""
        asked = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        found = self.call("Runtime.evaluate", **asked)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def screenshot(self) -> str:
        """Return what can be seen in the window, as a PNG in base 64."""
        return str(self.call("Page.captureScreenshot", format="png")["data"])

    def seen(self, method: str) -> list[dict[str, Any]]:
        """Return the events of a kind since the page was shown."""
        return [each["params"] for each in self.events if each.get("method") == method]

    def _message(self) -> dict[str, Any]:
        while _END not in self._rest:
            ready, _, _ = select.select([self._reads], [], [], _SECONDS)
            part = os.read(self._reads, 1 << 16) if ready else b""
            assert part, "the browser has gone, or says nothing any more"
            self._rest += part
        message, _, self._rest = self._rest.partition(_END)
        found: dict[str, Any] = json.loads(message)
        return found


@contextmanager
def tab(profile: Path) -> Iterator[Tab]:
    """Have a browser with one tab inside the block; `profile` is a folder for its files."""
    its_reads, writes = _pipe()
    reads, its_writes = _pipe()
    actions = [
        (os.POSIX_SPAWN_DUP2, its_reads, _READS),
        (os.POSIX_SPAWN_DUP2, its_writes, _WRITES),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    command = [program(), *_OPTIONS, f"--user-data-dir={profile}"]
    process = os.posix_spawn(command[0], command, os.environ, file_actions=actions, setpgroup=0)
    os.close(its_reads)
    os.close(its_writes)
    try:
        found = Tab(reads, writes)
        found.attach()
        yield found
    finally:
        # Its children are in its group.
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(reads)
        os.close(writes)


def _pipe() -> tuple[int, int]:
    """Return the ends of a pipe, neither in the place of one that the browser is to have."""
    ends = os.pipe()
    moved = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, _FREE) for each in ends]
    for each in ends:
        os.close(each)
    return moved[0], moved[1]
