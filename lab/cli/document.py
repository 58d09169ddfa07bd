"""A document that a command writes into a file of the user's."""

from pathlib import Path
from typing import Final

from fake_plugin.files.replacement import replace
from lab.core.errors import UsageError

_MODE: Final = 0o644


def write(
    document: str, file: Path, what: str, commands: tuple[str, ...] = (), *, anew: bool = False
) -> None:
    """Write it, and replace what is there; raises `UsageError`, in which it is called `what`.

    `anew` puts a file of its own there: of a file that nobody has named, a link may lead anywhere.
    """
    try:
        if anew:
            replace(file, (document,), _MODE)
        else:
            file.write_text(document, encoding="utf-8")
    except OSError as problem:
        raise UsageError(
            f"{what} cannot be written",
            where=str(file),
            seen=problem.strerror or "",
            remedy="name a file in a folder that is there and may be written to",
            commands=commands,
        ) from problem
