"""The vendors' tools of a node: put there once, and their table kept as the hardware is."""

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from fake_plugin import events
from fake_plugin.errors import needing
from fake_plugin.hardware.board import Board
from fake_plugin.hardware.reading import Reading
from fake_plugin.log import say
from fake_plugin.smi import programs, table
from fake_plugin.vendors.place import Place

#: In the plugin's own folder, which must have the same path on the node as for the plugin.
_FOLDER: Final = "tools"
#: Load and temperature move by themselves.
_PERIOD: Final = 5.0
#: Of a storm of changes the table has what came of it.
_GAP: Final = 0.1
#: A node with very many units takes long to read: the table may cost this part of a core.
_SHARE_OF_TIME: Final = 0.05


def install(state_dir: Path) -> Place:
    """Write the tools into the plugin's folder, and return what containers get of them.

    Raises `NotReady` where they cannot be written.
    """
    folder = state_dir / _FOLDER
    remedy = "give --state-dir a folder of this plugin's own, with a few MB free"
    with needing(folder, "the vendors' tools, such as nvidia-smi, cannot be written", remedy):
        programs.install(folder)
    return Place({vendor: programs.mounts(vendor, folder) for vendor in programs.PROGRAMS})


class Toolbox:
    """Writes the table that the tools read, from `start` to `stop`: at a change, and in between."""

    def __init__(
        self, state_dir: Path, board: Board, readings: Callable[[], Iterable[Reading]]
    ) -> None:
        self._folder = programs.table_folder(state_dir / _FOLDER)
        self._readings = readings
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._failure = ""
        self._thread = threading.Thread(target=self._run, name="tools", daemon=True)
        board.listen(self._wake.set)

    def start(self) -> None:
        """Write the table, and keep it so."""
        self._thread.start()

    def stop(self) -> None:
        """Leave the table as it is: a container that stays still has its tool."""
        self._stopping.set()
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.clear()
            began = time.monotonic()
            self._write()
            took = time.monotonic() - began
            # Where `stop` came before the wake was cleared, only the other event still tells.
            if not self._stopping.wait(_GAP + took):
                self._wake.wait(max(_PERIOD, took / _SHARE_OF_TIME))

    def _write(self) -> None:
        try:
            table.write(self._folder, self._readings())
        except OSError as problem:
            reason = str(problem)
            if reason != self._failure:
                say(events.TABLE_NOT_WRITTEN, folder=str(self._folder), reason=reason)
            self._failure = reason
        else:
            self._failure = ""
