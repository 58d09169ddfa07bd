"""Every scenario on labs that the pytest plugin makes, as any project's tests have them.

Where no lab can be made these tests are skipped with the reason; with GPULAB_REQUIRE=kind in the
environment that is a failure.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.leaving_out import leave_out

DOCTOR = (sys.executable, "-m", "lab.cli.main", "doctor", "--output", "json")


@pytest.fixture(scope="session")
def lab_kubeconfig(pytestconfig: pytest.Config, lab_kubeconfig: Path | None) -> Path | None:
    """Return the kubeconfig that was named; without one, require that kind can run here."""
    if not lab_kubeconfig and not pytestconfig.getoption("lab_use"):
        _require_kind()
    return lab_kubeconfig


def _require_kind() -> None:
    report = json.loads(subprocess.run(DOCTOR, check=False, capture_output=True).stdout)
    failed = [each for each in report["findings"] if each["state"] == "fail"]
    if not failed:
        return
    reason = "; ".join(f"{each['name']}: {each['measured']}" for each in failed)
    leave_out(f"no kind cluster can run here: {reason}")
