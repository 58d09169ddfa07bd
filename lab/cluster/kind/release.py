"""A published release of kind: downloaded, and refused unless its checksum is the published one."""

import hashlib
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO, Final
from urllib.error import HTTPError, URLError
from urllib.request import build_opener

from lab.core.errors import Interrupted, NotReady
from lab.core.progress import Step
from lab.host.architecture import architecture

#: Where kind publishes its releases; below it, one folder per version.
RELEASES: Final = "https://github.com/kubernetes-sigs/kind/releases/download"

#: For a connection and for each answer: a blocked network often swallows packets silently.
_SECONDS: Final = 10
_CHUNK: Final = 256 * 1024
_SHA256_DIGITS: Final = 64


@dataclass(frozen=True)
class Asset:
    """One program of a release: its file name, and the address it is published at."""

    name: str
    address: str

    @classmethod
    def of_this_machine(cls, version: str, releases: str = RELEASES) -> "Asset":
        """Return the program for this machine (a name that is not published is refused there)."""
        name = f"kind-{platform.system().lower()}-{architecture()}"
        return cls(name, f"{releases}/{version}/{name}")

    def fetch(self, target: Path, step: Step, cancelled: Callable[[], bool]) -> None:
        """Download to `target`, as an executable file, and compare it with the published sum.

        Proxies are those of the environment. Raises `NotReady` with the address where that fails
        and with both sums where they differ, and `Interrupted` soon after `cancelled()`.
        """
        wanted = self._published_sum()
        with _answer(self.address) as answer, target.open("wb") as file:
            measured, size = _copy(answer, file, step, cancelled)
        if measured != wanted:
            raise NotReady(
                f"{self.address} is not the published file and was thrown away",
                seen=f"sha256 {measured} of {size} bytes, published is {wanted}",
            )
        target.chmod(0o755)

    def _published_sum(self) -> str:
        address = f"{self.address}.sha256sum"
        with _answer(address) as answer:
            # The first word, as sha256sum writes it: a page of a captive portal has none such.
            words = answer.read(4096).decode(errors="replace").split()
        found = words[0].lower() if words else ""
        if len(found) != _SHA256_DIGITS or not set(found) <= set("0123456789abcdef"):
            raise NotReady(f"{address} holds no checksum")
        return found


@contextmanager
def _answer(address: str) -> Iterator[IO[bytes]]:
    """Open an address; whatever breaks until it has been read becomes `NotReady`."""
    try:
        with build_opener().open(address, timeout=_SECONDS) as answer:
            yield answer
    except HTTPError as error:
        error.close()
        raise NotReady(f"{address} cannot be fetched", seen=str(error)) from error
    except (OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise NotReady(f"{address} cannot be fetched", seen=str(reason)) from error


def _copy(
    source: IO[bytes], target: IO[bytes], step: Step, cancelled: Callable[[], bool]
) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK):
        if cancelled():
            raise Interrupted("interrupted")
        target.write(chunk)
        digest.update(chunk)
        size += len(chunk)
        step.update(f"{size / 1e6:.1f} MB")
    return digest.hexdigest(), size
