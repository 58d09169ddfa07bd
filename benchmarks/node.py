"""A node of the benchmark: a folder that stands for its file system, and plugins as processes.

Upstream's sample dials the kubelet under its one fixed path, and Allocate leaves files in /tmp. So
each plugin is started by `unshare --root`, the sample with this folder as its root, ours with the
machine's: nothing of the machine is touched, and both starts have the same way to go.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from benchmarks.kubelet import Kubelet, Plugin
from lab.core.errors import CheckFailed, NotReady, TimedOut

MIB: Final = 1 << 20
_PLUGIN_DIR: Final = "var/lib/kubelet/device-plugins"
_END_SECONDS: Final = 10.0


@dataclass(frozen=True)
class Memory:
    """Bytes of one process: resident, its share of what it shares, and the most it ever had."""

    rss: int
    pss: int
    peak: int

    @classmethod
    def of(cls, pid: int) -> "Memory":
        """Return what the system counts for a process."""
        rollup = _kilobytes(Path(f"/proc/{pid}/smaps_rollup"))
        status = _kilobytes(Path(f"/proc/{pid}/status"))
        return cls(rollup["Rss"], rollup["Pss"], status["VmHWM"])


@dataclass(frozen=True)
class Running:
    """A plugin that has registered, all of it in `seconds` from the start of its process."""

    process: subprocess.Popen[bytes]
    plugins: list[Plugin]
    seconds: float

    @property
    def plugin(self) -> Plugin:
        """Return its only resource."""
        (plugin,) = self.plugins
        return plugin

    @property
    def memory(self) -> Memory:
        """Return the memory of the process now."""
        return Memory.of(self.process.pid)


class Node:
    """A folder as a node's file system."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.plugin_dir = root / _PLUGIN_DIR
        self.state_dir = root / "state"
        self._log = root / "log"
        for folder in (self.plugin_dir, self.state_dir, root / "tmp"):
            folder.mkdir(parents=True)

    @contextmanager
    def running(
        self,
        argv: Sequence[str],
        *,
        resources: int = 1,
        environment: Mapping[str, str] | None = None,
    ) -> Iterator[Running]:
        """Run a plugin until it has registered, and end it afterwards.

        `environment` is added to that of this process.
        """
        child_environment = {**os.environ, **(environment or {})}
        kubelet = Kubelet(self.plugin_dir)
        try:
            with (
                self._log.open("w+b") as log,
                self._process(argv, child_environment, log) as (process, started),
            ):
                try:
                    plugins, registered = kubelet.wait_for_plugins(
                        resources, lambda: process.poll() is None
                    )
                except TimedOut as error:
                    raise self._not_registered(argv, error) from error
                yield Running(process, plugins, registered - started)
        finally:
            kubelet.stop()

    @contextmanager
    def _process(
        self, argv: Sequence[str], environment: Mapping[str, str], log: IO[bytes]
    ) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
        started = time.monotonic()
        process = subprocess.Popen(
            argv, env=environment, stdin=subprocess.PIPE, stdout=log, stderr=log
        )
        try:
            yield process, started
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.communicate(timeout=_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _not_registered(self, argv: Sequence[str], error: TimedOut) -> CheckFailed:
        said = self._log.read_text(errors="replace").strip().splitlines()
        return CheckFailed(
            error.what, where=" ".join(argv), seen="\n".join(said[-5:]) or "(it printed nothing)"
        )


@contextmanager
def new_node() -> Iterator[Node]:
    """Make a node and remove it; the path is short, as those of sockets have to be."""
    with tempfile.TemporaryDirectory(prefix="gpulab-bench-", dir="/tmp") as folder:
        yield Node(Path(folder))


def starter() -> tuple[str, ...]:
    """Return the command that starts a program in a root of its own, which stands behind it.

    Raises `NotReady` where neither root nor a user namespace allows it.
    """
    if shutil.which("unshare") is None:
        raise NotReady(
            "the program unshare is needed to start a plugin in a root of its own",
            where="the PATH",
            remedy="install util-linux, on Linux",
        )
    options = ("unshare",) if os.geteuid() == 0 else ("unshare", "--user", "--map-root-user")
    tried = subprocess.run((*options, "--root=/", "true"), check=False, capture_output=True)
    if tried.returncode:
        raise NotReady(
            "a plugin cannot be started in a root of its own",
            where=" ".join(options),
            seen=tried.stderr.decode(errors="replace").strip(),
            remedy="run the benchmark as root, or allow user namespaces; or measure our plugin "
            'alone: make bench-plugin ARGS="--alone"',
        )
    return options


def _kilobytes(file: Path) -> dict[str, int]:
    """Return the fields of a file of /proc that are in kB, in bytes."""
    fields = (line.split() for line in file.read_text().splitlines())
    return {each[0][:-1]: int(each[1]) * 1024 for each in fields if each[2:] == ["kB"]}
