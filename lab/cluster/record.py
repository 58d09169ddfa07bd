"""What the lab remembers of a cluster that it made: one folder per lab, one small record in it.

The record is written before anything is created, with the phase `creating`, so that whatever a
crash leaves behind is known to be ours.
"""

import json
import os
import secrets
import shlex
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from fake_plugin.files.regular import NotRegular, open_regular
from fake_plugin.files.replacement import replace as replace_file
from lab.core.errors import CheckFailed, CleanUpFailed, NotReady
from lab.core.fleet import Fleet, FleetError, load_fleet
from lab.host.folders import Folders, unwritable

Phase = Literal["creating", "ready"]
BackendName = Literal["kind", "existing"]
_PHASES: Final[tuple[Phase, ...]] = get_args(Phase)
_BACKENDS: Final[tuple[BackendName, ...]] = get_args(BackendName)
_RECORD: Final = "lab.json"
_PRIVATE: Final = 0o600
#: The plugin refuses a token that is shorter.
_LEAST_TOKEN: Final = 16


class RecordDamaged(CheckFailed):
    """A file in which the lab remembers cannot be read; the cluster itself may be well."""


@dataclass(frozen=True)
class Record:
    """A lab's name, its backend, and how far its creation got.

    On kind, `node_image` is the image of its nodes. On a cluster that was there before, `nodes` are
    those that the lab may have, `plugin_image` is where the plugin's image is pulled from ("" where
    it is streamed into the nodes), and `cluster` is the UID of the namespace kube-system, by which
    a cluster is known again.
    """

    name: str
    backend: BackendName
    phase: Phase
    node_image: str = ""
    nodes: tuple[str, ...] = ()
    plugin_image: str = ""
    cluster: str = ""


@dataclass(frozen=True)
class LabFolder:
    """The files of one lab. The kubeconfig is the lab's own, never the user's."""

    path: Path

    @classmethod
    def of(cls, folders: Folders, name: str) -> "LabFolder":
        """Return the folder of the lab with this name, whether it exists or not."""
        return cls(folders.state / name)

    @classmethod
    def names(cls, folders: Folders) -> tuple[str, ...]:
        """Return the names of the labs that there are, also of those whose record is damaged."""
        return tuple(sorted(each.parent.name for each in folders.state.glob(f"*/{_RECORD}")))

    @property
    def kubeconfig(self) -> Path:
        """Readable by the user alone (mode 0600)."""
        return self.path / "kubeconfig"

    @property
    def kind_config(self) -> Path:
        """The configuration that the cluster was created from."""
        return self.path / "kind-config.yaml"

    @property
    def fleet(self) -> Path:
        """The fleet as it was placed on the nodes."""
        return self.path / "fleet.yaml"

    @property
    def owner_mark(self) -> Path:
        """The folder that is mounted into every node, which shows that the node is ours."""
        return self.path / "node"

    @property
    def token(self) -> Path:
        """The token of the plugins' control API, readable by the user alone (mode 0600)."""
        return self.path / "token"

    @property
    def under_test(self) -> Path:
        """The namespace of the test that works on the lab; it stays where that undoes not all."""
        return self.path / "under-test"

    @property
    def _record(self) -> Path:
        return self.path / _RECORD

    def require_place(self) -> None:
        """Raise `NotReady` where something else than a folder is in the folder's place."""
        # Unlike Path's own methods, these two never raise.
        if os.path.isdir(self.path) or not os.path.lexists(self.path):  # noqa: PTH112 - see above
            return
        linked = self.path.is_symlink()
        seen = f"a symbolic link to {self.path.readlink()}, no folder" if linked else "a file"
        raise NotReady(
            f"the folder of the lab {self.path.name!r} cannot be there: something else is",
            where=str(self.path),
            seen=seen,
            remedy="move it away, or set GPULAB_STATE_HOME to another folder",
            commands=(shlex.join(("mv", str(self.path), f"{self.path}.moved")),),
        )

    def read(self) -> Record | None:
        """Return the record, None where there is none; raises `RecordDamaged`."""
        try:
            with open_regular(self._record) as file:
                return _record_of(json.load(file))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RecordDamaged(
                "the lab's own record cannot be read",
                where=str(self._record),
                seen=f"{type(error).__name__}: {error}",
                remedy="remove the lab and create it again",
                commands=(f"gpulab down --name {self.path.name}",),
            ) from error

    def placed_fleet(self) -> Fleet | None:
        """Return the fleet on the nodes, None before there was one; raises `RecordDamaged`."""
        try:
            open_regular(self.fleet).close()
            return load_fleet(self.fleet)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, FleetError) as error:
            raise RecordDamaged(
                "the lab's own copy of its fleet cannot be read",
                where=str(self.fleet),
                seen=error.seen if isinstance(error, FleetError) else str(error),
                remedy="bring the lab up again, with --fleet if it has another fleet than the "
                "default: that writes the copy anew",
                commands=(*moving(self.fleet), f"gpulab up --name {self.path.name}"),
            ) from error

    def write(self, record: Record) -> None:
        """Write the record, whole or not at all; raises `NotReady` where that is not possible."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.owner_mark.mkdir(exist_ok=True)
        except OSError as error:
            raise unwritable(self.path, "GPULAB_STATE_HOME", error) from error
        self.write_text(self._record, json.dumps(asdict(record), indent=2) + "\n")

    def control_token(self) -> str:
        """Return the token of the control API; a new one where there is none that would do.

        Raises `NotReady` like `write`, and as `known_token`.
        """
        token = self.known_token()
        if len(token) < _LEAST_TOKEN:
            token = secrets.token_urlsafe()
            self.write_text(self.token, f"{token}\n")
        return token

    def known_token(self) -> str:
        """Return the token that was made, "" where there is none; raises `RecordDamaged`."""
        try:
            with open_regular(self.token) as file:
                return file.read().decode("ascii").strip()
        except NotRegular as error:
            raise RecordDamaged(
                "the lab's token for its plugins cannot be read",
                where=str(self.token),
                seen=str(error),
                remedy="move it away, and bring the lab up again: that makes one",
                commands=(*moving(self.token), f"gpulab up --name {self.path.name}"),
            ) from error
        except (OSError, ValueError):
            return ""

    def write_text(self, file: Path, text: str) -> None:
        """Write a file of the folder, whole or not at all, for the user alone (mode 0600).

        Raises `NotReady` like `write`.
        """
        try:
            replace_file(file, (text,), _PRIVATE)
        except OSError as error:
            raise unwritable(self.path, "GPULAB_STATE_HOME", error) from error

    def mark_ready(self) -> None:
        """Note that the cluster stands."""
        record = self.read()
        if record:
            self.write(replace(record, phase="ready"))

    def remove(self) -> None:
        """Remove the lab's files, and the state folder with its last lab."""
        try:
            shutil.rmtree(self.path)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise CleanUpFailed(
                "the files of the lab could not be removed",
                where=str(self.path),
                seen=str(error),
                commands=(shlex.join(("rm", "-r", str(self.path))),),
            ) from error
        with suppress(OSError):  # Other labs live there, or it is already gone.
            self.path.parent.rmdir()


def moving(file: Path) -> tuple[str, ...]:
    """Return the command that moves away what is in a file's place and is none, if that is so."""
    if file.is_file() or not file.exists():
        return ()
    return (shlex.join(("mv", str(file), f"{file}.moved")),)


def _record_of(found: Any) -> Record:  # noqa: ANN401 - any JSON; `read` sorts out what it raises
    phase, backend = found["phase"], found["backend"]
    if phase not in _PHASES:
        raise ValueError(f"phase {phase!r} is none of {', '.join(_PHASES)}")
    if backend not in _BACKENDS:
        raise ValueError(f"backend {backend!r} is none of {', '.join(_BACKENDS)}")
    return Record(
        str(found["name"]),
        backend,
        phase,
        str(found["node_image"]),
        # Not in records of labs on kind that an earlier version made.
        tuple(map(str, found.get("nodes", ()))),
        str(found.get("plugin_image", "")),
        str(found.get("cluster", "")),
    )
