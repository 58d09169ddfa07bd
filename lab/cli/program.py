"""How `gpulab` is typed here: by its name, or by its path where the PATH does not have it.

After `make lab-up` it lies in .venv/bin, and a command to paste has to work when it is pasted.
"""

import shlex
import shutil
import sys
from pathlib import Path
from typing import Final

from lab.cli.options import DEFAULT_NAME

NAME: Final = "gpulab"


def program() -> str:
    """Return what to type for `gpulab`."""
    started_as = sys.argv[0]
    if Path(started_as).name != NAME or shutil.which(NAME):
        return NAME
    return shlex.quote(started_as)


def of_lab(name: str, arguments: str) -> str:
    """Return a command of a lab, to paste; the default's name is left out."""
    return f"{program()} {arguments}" + ("" if name == DEFAULT_NAME else f" --name {name}")


def to_paste(text: str) -> str:
    """Return a text whose commands (`$ gpulab …`) can be pasted."""
    return text.replace(f"$ {NAME} ", f"$ {program()} ")
