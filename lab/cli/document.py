"""A document that a command writes into a file of the user's."""

from pathlib import Path

from lab.core.errors import UsageError


def write(document: str, file: Path, what: str, commands: tuple[str, ...] = ()) -> None:
    """Write it, and replace what is there; raises `UsageError`, in which it is called `what`."""
    try:
        file.write_text(document, encoding="utf-8")
    except OSError as problem:
        raise UsageError(
            f"{what} cannot be written",
            where=str(file),
            seen=problem.strerror or "",
            remedy="name a file in a folder that is there and may be written to",
            commands=commands,
        ) from problem
