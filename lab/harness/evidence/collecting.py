"""Gathers the evidence of a test that has failed, before its pods and its lab go."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from lab.harness.evidence.folder import made_for, unwritable
from lab.harness.evidence.redaction import redacted_json
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

    `timelines` are the contents of those files that tell how pods have come to their devices.
    """

    folder: Path
    files: tuple[str, ...]
    missing: tuple[str, ...]
    timelines: tuple[JsonValue, ...]


def collect(  # noqa: PLR0913, PLR0917 - each is a part of what is known
    lab: Lab, test: str, failure: str, since: datetime, root: Path, output: str = ""
) -> Evidence:
    """Write what is known of a lab into a folder of the test's own below `root`.

    `failure` is the text of the failure, `since` when the test began, `output` what it has printed,
    and the programs that it started. What cannot be had is told in
    `missing`, and does not keep the rest from being written. Raises `NotReady` where the folder
    cannot be written.
    """
    folder = made_for(test, root)
    secrets = (lab.running.folder.known_token(),)
    own: tuple[Source, ...] = (
        Source(_FAILURE, lambda: failure),
        Source(_LOOK, lambda: _commands(lab, folder)),
    )
    if output:
        own = (*own, Source(_OUTPUT, lambda: output))
    kept = _write((*own, *sources(lab, since)), folder, secrets)
    if kept.missing:
        _write_one(folder / _MISSING, "\n".join(kept.missing))
    return kept


def _write(found: Iterable[Source], folder: Path, secrets: tuple[str, ...]) -> Evidence:
    written, missing, timelines = [], [], []
    for source in found:
        try:
            content = source.read()
        except Exception as error:  # noqa: BLE001 - half a cluster is what evidence is for
            told = f"{source.file}: {type(error).__name__}: {error}"
            missing.append(redacted_json(told, secrets))
            continue
        clean = redacted_json(content, secrets)
        _write_one(folder / source.file, clean)
        written.append(source.file)
        if source.file.startswith(TIMELINES):
            timelines.append(clean)
    return Evidence(folder, tuple(written), tuple(missing), tuple(timelines))


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
