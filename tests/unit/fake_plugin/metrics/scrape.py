"""What a Prometheus makes of an answer."""

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from fake_plugin.metrics.exposition import exposition
from fake_plugin.metrics.families import Family
from tests.leaving_out import leave_out

#: What DCGM stands in for a value that it does not have (0x7ffffffffffffff0), and its neighbours.
LARGEST: Final = 9.2e18


def text(families: Iterable[Family]) -> str:
    """Return the text of families."""
    return b"".join(exposition(families)).decode()


def kept(families: Iterable[Family]) -> list[Family]:
    """Return families whose samples can be read more than once."""
    return [replace(family, samples=tuple(family.samples)) for family in families]


def samples(families: Iterable[Family]) -> list[Sample]:
    """Return all samples of families, read back from their text."""
    read = text_string_to_metric_families(text(families))
    return [each for family in read for each in family.samples]


def values(families: Iterable[Family], name: str) -> list[float]:
    """Return the values of one metric; the parser calls every counter `…_total`."""
    spellings = {name, f"{name}_total"}
    return [each.value for each in samples(families) if each.name in spellings]


def names(families: Iterable[Family]) -> list[str]:
    """Return the names of the metrics that have a value, in order."""
    return [family.metric.name for family in families if family.samples]


def promtool(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run Prometheus' own program; skip the test where there is none."""
    program = shutil.which("promtool")
    if program is None:
        leave_out("promtool is missing: it comes with Debian's package prometheus")
    command = [program, *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)
