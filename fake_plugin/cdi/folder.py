"""The folder of CDI specs on a node: what the plugin writes there, and what others have there.

A runtime reads `*.json` and `*.yaml` of /etc/cdi and /var/run/cdi. A device that two files of one
folder define is given to no container (pkg/cdi/cache.go), so a spec that would meet another's
device is not written.
"""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from fake_plugin.cdi import rules
from fake_plugin.cdi.found import MARK, WRITER, Found, files_of, read_specs
from fake_plugin.cdi.spec import Spec, file_text
from fake_plugin.errors import NotReady, needing
from fake_plugin.files.inode import Inode
from fake_plugin.files.replacement import is_abandoned
from fake_plugin.files.replacement import replace as replace_file

_READABLE_BY_ALL: Final = 0o644
_SHOWN: Final = 3


def file_name(kind: str) -> str:
    """Return the name of the file of a kind, as the Go library's tools choose it."""
    return f"{kind.replace('/', '-', 1)}.json"


class CdiFolder:
    """The folder that specs are written to, made where it is missing.

    Every method raises `NotReady` where the node does not let it be done; nothing has changed then.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._written: dict[Path, Inode | None] = {}

    def write(self, spec: Spec) -> Path:
        """Put the spec in place, whole at once, and return where.

        It is checked first, by `rules.check` and against all other files. What an earlier run or
        an earlier call had in the file of that kind is replaced.
        """
        spec = replace(spec, annotations={**spec.annotations, MARK: WRITER})
        path = self.path / file_name(spec.kind)
        document = spec.document()
        _refuse_violations(document, path)
        self._refuse_conflicts(spec, path)
        remedy = "mount the folder of CDI specs into the container, writable"
        with needing(path, "the CDI spec cannot be written", remedy):
            self.path.mkdir(parents=True, exist_ok=True)
            replace_file(path, [file_text(document)], _READABLE_BY_ALL, durable=True)
        self._written[path] = Inode.of(path)
        return path

    def remove(self, path: Path) -> None:
        """Remove what `write` wrote, if it is still there.

        What a later run of the plugin has put in its place stays.
        """
        written = self._written.get(path)
        if written is not None and Inode.of(path) == written:
            _unlink(path)
        self._written.pop(path, None)

    def remove_leftovers(self) -> list[str]:
        """Remove what earlier runs left and this one has not written, and return its names.

        To be called after `write`, so that a device that stays is never missing in between.
        """
        left = [found.path for found in read_specs(self.path) if self._is_left(found)]
        left += filter(is_abandoned, files_of(self.path))
        for path in left:
            _unlink(path)
        return [path.name for path in left]

    def _is_left(self, found: Found) -> bool:
        return found.is_ours and found.path not in self._written

    def _refuse_conflicts(self, spec: Spec, path: Path) -> None:
        names = {f"{spec.kind}={device.name}" for device in spec.devices}
        for found in read_specs(self.path):
            if found.path == path and not found.is_ours:
                raise _taken(path)
            # A leftover is about to be removed.
            if found.path != path and not self._is_left(found):
                _refuse_shared(names & found.names, found.path)


def _refuse_violations(document: Mapping[str, object], path: Path) -> None:
    found = rules.check(document)
    if found:
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise NotReady(
            "the CDI spec breaks rules: the container runtime would not load it",
            where=str(path),
            seen="; ".join(str(each) for each in found[:_SHOWN]) + more,
            remedy="correct the pool that the devices come from",
        )


def _refuse_shared(names: set[str], other: Path) -> None:
    if names:
        first, *rest = sorted(names)
        more = f" and {len(rest)} more" if rest else ""
        raise NotReady(
            f"another CDI file defines the device {first}{more} already: no container could get it",
            where=str(other),
            remedy="stop the software that wrote that file and remove it, or use another node",
        )


def _taken(path: Path) -> NotReady:
    return NotReady(
        "the file of the CDI spec is another's",
        where=str(path),
        seen=f"it has no annotation {MARK}: {WRITER}",
        remedy="stop the software that wrote that file and remove it, or use another node",
    )


def _unlink(path: Path) -> None:
    command = shlex.join(("rm", str(path)))
    remedy = f"remove it by hand, or containers are still given its devices: {command}"
    with needing(path, "the CDI spec cannot be removed", remedy):
        path.unlink(missing_ok=True)
