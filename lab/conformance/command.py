"""The command line of a plugin, and how it learns where the kubelet is."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lab.conformance.fixed_folder import FIXED_FOLDER, at_fixed_folder
from lab.core.errors import UsageError
from lab.host.processes import Processes

PLACEHOLDER: Final = "{dir}"
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class PluginCommand:
    """What a user starts the plugin with; `{dir}` in an argument stands for the kubelet's folder.

    `dir_variable` is a variable that says the same to the plugin. A command with neither is for a
    plugin that looks under the one fixed path.
    """

    argv: tuple[str, ...]
    dir_variable: str = ""

    @classmethod
    def parse(cls, text: str, dir_variable: str = "") -> "PluginCommand":
        """Read a command line as a shell splits it; raise `UsageError` where that cannot be."""
        try:
            argv = tuple(shlex.split(text))
        except ValueError as problem:
            raise UsageError(
                "the plugin's command cannot be read",
                where="--plugin-command",
                seen=f"{problem}: {text}",
                remedy="close every quote; the command is split as by a shell, and run without one",
            ) from problem
        if not argv:
            raise UsageError(
                "the plugin's command is empty",
                where="--plugin-command",
                remedy='give the command that starts the plugin, as in "my-plugin --dir {dir}"',
            )
        if dir_variable and not _VARIABLE.fullmatch(dir_variable):
            raise UsageError(
                f"{dir_variable!r} is not the name of a variable",
                where="--dir-variable",
                remedy="use letters, digits and '_', with no digit first",
            )
        return cls(argv, dir_variable)

    @property
    def is_told_the_folder(self) -> bool:
        """Whether the plugin need not look under the fixed path."""
        return bool(self.dir_variable) or any(PLACEHOLDER in each for each in self.argv)

    def in_pod(self) -> tuple[str, ...]:
        """Return what a container runs, in which the folder is where it is on every node."""
        return tuple(each.replace(PLACEHOLDER, FIXED_FOLDER) for each in self.argv)

    def on(self, folder: Path, processes: Processes) -> "Launch":
        """Return how to start the plugin for a kubelet in that folder.

        Raises `NotReady` where the folder cannot be put under the fixed path.
        """
        argv = tuple(each.replace(PLACEHOLDER, str(folder)) for each in self.argv)
        if self.is_told_the_folder:
            variables = {self.dir_variable: str(folder)} if self.dir_variable else {}
            return Launch(self.argv, argv, variables)
        return Launch(self.argv, (*at_fixed_folder(folder, processes), *argv), {})


@dataclass(frozen=True)
class Launch:
    """A command to run, and the variables to add to its environment.

    `asked` is what the user has given of it.
    """

    asked: tuple[str, ...]
    argv: tuple[str, ...]
    variables: dict[str, str]
