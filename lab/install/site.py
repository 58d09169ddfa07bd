"""Where an installation happens: this machine's means, and the one who is told."""

from collections.abc import Callable
from dataclasses import dataclass

from lab.core.progress import Progress
from lab.host.docker import Docker
from lab.host.folders import Folders
from lab.host.processes import Processes


@dataclass(frozen=True)
class Site:
    """The children of this command, the lab's folders, and where progress is shown.

    `command` is what others are told of it, and `has` the lab that it has to itself, if any.
    `again` returns the command as it was typed, of the lab of a name and with more words; None
    where none was typed.
    """

    processes: Processes
    folders: Folders
    progress: Progress
    command: str = "gpulab"
    has: str = ""
    again: Callable[..., str] | None = None

    @property
    def docker(self) -> Docker:
        """The engine, through this command's processes."""
        return Docker(self.processes)
