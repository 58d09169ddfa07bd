"""The check of the kind program: found, or how `gpulab up` would come by one."""

import shutil

from lab.cluster.kind.program import cached_kind, cached_path, kind_on_path
from lab.cluster.kind.release import RELEASES
from lab.core import pins
from lab.core.errors import NotReady, TimedOut
from lab.host.checks.finding import Finding, State
from lab.host.folders import Folders
from lab.host.processes import Processes


def kind(processes: Processes, folders: Folders) -> Finding:
    """Return which kind is used, without installing one."""
    wanted = f"{pins.KIND} or newer"
    try:
        found = kind_on_path(processes)
    except (NotReady, TimedOut):
        state, measured, remedy = _without(processes, folders)
        return Finding("kind", state, measured, wanted, remedy)
    if found.recent:
        return Finding("kind", State.OK, f"{found.version} at {found.path}", wanted)
    _, instead, remedy = _without(processes, folders)
    measured = f"{found.version} at {found.path} is too old; {instead}"
    return Finding("kind", State.WARN, measured, wanted, remedy or "nothing to do for the lab")


def _without(processes: Processes, folders: Folders) -> tuple[State, str, str]:
    """Return state, measured and remedy for a machine without a kind on the PATH."""
    path = cached_path(folders)
    try:
        return State.OK, f"{cached_kind(processes, path).version} at {path}", ""
    except (NotReady, TimedOut):
        if shutil.which("go"):
            return State.OK, f"{pins.KIND}, to be built with Go", ""
    return (
        State.WARN,
        f"{pins.KIND}, to be downloaded",
        f"without a way to {RELEASES} put kind or Go on the PATH first",
    )
