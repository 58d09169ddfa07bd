"""What tells a file from another of its name."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Inode:
    """Tells a file from one that later has its name, even where its number is used again."""

    device: int
    number: int
    changed_ns: int

    @classmethod
    def of(cls, path: Path) -> "Inode | None":
        """Return what stands at `path`, links not followed; None where nothing does."""
        try:
            status = path.lstat()
        except OSError:
            return None
        return cls(status.st_dev, status.st_ino, status.st_ctime_ns)
