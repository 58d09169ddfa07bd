"""One `gpulab` at a time works on a lab."""

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from lab.cluster.record import LabFolder
from lab.core.errors import NotReady
from lab.host.folders import Folders, unwritable


@contextmanager
def alone(folders: Folders, name: str) -> Iterator[None]:
    """Refuse to work on a lab beside another `gpulab`. The lock's file goes with the lab."""
    LabFolder.of(folders, name).require_place()
    path = folders.cache / "locks" / f"{name}.lock"
    lock = FileLock(path, timeout=0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise NotReady(
            f"another gpulab is at work on the lab {name!r}",
            remedy="let it finish, or give this lab another name",
            commands=("gpulab up --name another-name",),
        ) from error
    except OSError as error:
        raise unwritable(folders.cache, "GPULAB_CACHE_HOME", error) from error
    try:
        yield
    finally:
        if not LabFolder.of(folders, name).path.exists():
            path.unlink(missing_ok=True)
        lock.release()
