"""What comes of a test that has a lab, as pytest sees it."""

import pytest

from lab.core.errors import LabError
from lab.harness.pytest_plugin.again import again
from lab.harness.pytest_plugin.session import EVIDENCE
from lab.harness.pytest_plugin.tested import RECORDING
from lab.harness.pytest_plugin.wishes import wish_of

_SECTION = "gpu-lab"


def judge(item: pytest.Item, report: pytest.TestReport) -> None:
    """Note the verdict on a test, and keep the evidence of a failure."""
    recording = item.stash.get(RECORDING, None)
    if recording is None:
        return
    if report.skipped and not hasattr(report, "wasxfail"):
        recording.skipped(report.longreprtext)
    if not report.failed:
        return
    try:
        kept = recording.failed(report.longreprtext)
    except LabError as error:
        report.sections.append((_SECTION, str(error)))
        return
    item.user_properties.append((EVIDENCE, str(kept.folder)))
    told = f"evidence: {kept.folder}\n  $ {again(wish_of(item).test, item.config)}"
    report.sections.append((_SECTION, told))
