"""Gathers the evidence of a test that has failed, before its pods and its lab go."""

import shlex
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from lab.core.errors import Interrupted
from lab.harness.evidence.folder import made_for, unwritable
from lab.harness.evidence.redaction import redacted_json, redacted_text
from lab.harness.evidence.sources import TIMELINES, Source, sources
from lab.harness.keeping import keep
from lab.harness.lab import Lab

_FAILURE: Final = "failure.txt"
_OUTPUT: Final = "output.txt"
_LOOK: Final = "look.sh"
_MISSING: Final = "missing.txt"


@dataclass(frozen=True)
class Evidence:
    """What was kept of a test: a folder, its files, and what could not be had, with the reason.

    `timelines` are the contents of those files that tell how pods have come to their devices. What
    is in it grows while it is gathered, so that what was gathered counts when that is broken off.
    """

    folder: Path
    files: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    timelines: list[JsonValue] = field(default_factory=list)


def begun(test: str, root: Path) -> Evidence:
    """Return evidence without anything in it, in a folder of the test's own below `root`.

    Raises `NotReady` where the folder cannot be written.
    """
    return Evidence(made_for(test, root))


def collect(kept: Evidence, lab: Lab, failure: str, since: datetime, output: str = "") -> None:
    """Write what is known of a lab into the folder.

    `failure` is the text of the failure, `since` when the test began, `output` what it has printed,
    and the programs that it started. What cannot be had is told in `missing`, and does not keep the
    rest from being written; whoever breaks that off is told there, too, and in a note on the error.
    Raises `NotReady` where the folder cannot be written.
    """
    secrets = (lab.running.folder.known_token(),)
    own: tuple[Source, ...] = (
        Source(_FAILURE, lambda: failure),
        Source(_LOOK, lambda: _commands(lab, kept.folder)),
    )
    if output:
        own = (*own, Source(_OUTPUT, lambda: output))
    try:
        for source in chain(own, sources(lab, since)):
            _add(kept, source, secrets)
    except KeyboardInterrupt as ended:
        how = ended.what if isinstance(ended, Interrupted) else str(ended) or "Ctrl-C"
        kept.missing.append(f"whatever else there was: the gathering was broken off: {how}")
        ended.add_note(f"the evidence in {kept.folder} is not complete: see {_MISSING} there")
        raise
    finally:
        if kept.missing:
            _write_one(kept.folder / _MISSING, "\n".join(kept.missing))


def _add(kept: Evidence, source: Source, secrets: tuple[str, ...]) -> None:
    try:
        content = source.read()
    except Exception as error:  # noqa: BLE001 - half a cluster is what evidence is for
        told = f"{source.file}: {type(error).__name__}: {error}"
        kept.missing.append(redacted_text(told, secrets))
        return
    clean = redacted_json(content, secrets)
    _write_one(kept.folder / source.file, clean)
    kept.files.append(source.file)
    if source.file.startswith(TIMELINES):
        kept.timelines.append(clean)


def _write_one(file: Path, content: JsonValue) -> None:
    try:
        keep(file, content)
    except OSError as error:
        raise unwritable(file, error) from error


def _commands(lab: Lab, folder: Path) -> str:
    """Return what shows more, as long as the lab is there."""
    kubectl = f"kubectl --kubeconfig {shlex.quote(str(lab.running.folder.kubeconfig))}"
    inside = f"--namespace {lab.namespace}"
    timelines = (f"gpulab timeline {pod.name} {inside} --name {lab.name}" for pod in lab.pods())
    return "\n".join(
        (
            "#!/bin/sh",
            f"# What else there is to see, as long as the lab {lab.name} is there.",
            f"# What was gathered is in {folder}",
            f"{kubectl} get pods --output wide {inside}",
            f"{kubectl} get events --sort-by .lastTimestamp {inside}",
            f"gpulab status --name {lab.name}",
            f"gpulab inject list --name {lab.name}",
            f"gpulab journal --name {lab.name}",
            *timelines,
        )
    )
