"""How `gpulab` is typed here: by its name, or by its path where the PATH does not have it.

After `make lab-up` it lies in .venv/bin, and a command to paste has to work when it is pasted.
"""

import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
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


def of_another_lab(words: Sequence[str], lab: str, *more: str) -> str:
    """Return a command with the words that were typed, but of this lab, and with more options."""
    end = words.index("--") if "--" in words else len(words)
    asked = (*_without_name(words[:end]), "--name", lab, *more, *words[end:])
    return shlex.join((NAME, *asked))


def _without_name(words: Sequence[str]) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        if word in {"-n", "--name"}:
            next(rest, None)
        elif not word.startswith("--name=") and not re.match("-n.", word):
            yield word


def to_paste(text: str) -> str:
    """Return a text whose commands (`$ gpulab …`) can be pasted."""
    return text.replace(f"$ {NAME} ", f"$ {program()} ")
