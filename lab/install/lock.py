"""One command at a time works on a lab, be it for a moment or for a whole run of tests.

In the cache, `locks/<lab>.lock` is held as long as one does, and `locks/<lab>.user` says in words
which one that is.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from lab.cluster.record import LabFolder
from lab.core.errors import NotReady
from lab.host.folders import Folders, unwritable
from lab.install.site import Site


@contextmanager
def alone_at(site: Site, name: str) -> Iterator[Site]:
    """Have a lab to itself inside the block; who has it already goes on.

    Yields the site of who has it, for what is done in the block. Raises as `alone`.
    """
    if site.has == name:
        yield site
        return
    with alone(site.folders, name, site.command):
        yield replace(site, has=name)


@contextmanager
def alone(folders: Folders, name: str, who: str) -> Iterator[None]:
    """Have a lab inside the block; `who` is what others are told of this process.

    Raises `NotReady` where another process has it. The lock's file goes with the lab.
    """
    LabFolder.of(folders, name).require_place()
    folder = folders.cache / "locks"
    lock, user = FileLock(folder / f"{name}.lock", timeout=0), folder / f"{name}.user"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
        user.write_text(f"{who}, process {os.getpid()}", encoding="utf-8")
    except Timeout as error:
        raise NotReady(
            f"the lab {name!r} is in use by another command",
            seen=_said_in(user),
            remedy="let it end, or use a lab of another name",
            commands=("gpulab up --name another-name",),
        ) from error
    except OSError as error:
        lock.release()
        raise unwritable(folders.cache, "GPULAB_CACHE_HOME", error) from error
    try:
        yield
    finally:
        user.unlink(missing_ok=True)
        if not LabFolder.of(folders, name).path.exists():
            (folder / f"{name}.lock").unlink(missing_ok=True)
        lock.release()


def _said_in(user: Path) -> str:
    """Return who has a lab; "" where that is not written yet, or not any more."""
    try:
        return user.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
