"""Checks of the programs beside Docker: Python, kubectl, Go."""

import json
import re
import shutil
from typing import Final

from lab.core.errors import NotReady, TimedOut
from lab.host.checks.finding import Finding, State
from lab.host.checks.machine import Machine
from lab.host.processes import Processes

_OLDEST_PYTHON: Final = (3, 11)
_SECONDS: Final = 10


def python(machine: Machine) -> Finding:
    """Return whether this Python is recent enough."""
    major, minor = machine.python
    state = State.OK if machine.python >= _OLDEST_PYTHON else State.FAIL
    remedy = "" if state is State.OK else "install a newer Python, and gpu-lab with it"
    return Finding("python", state, f"{major}.{minor}", "3.11 or newer", remedy)


def kubectl(processes: Processes, kubernetes: str) -> Finding:
    """Return whether kubectl is there and within one minor version of the cluster's `v1.N.P`.

    The rule is Kubernetes' version skew policy. The lab itself works without; the walkthrough
    does not.
    """
    minor = int(kubernetes.split(".")[1])
    wanted = f"v1.{minor - 1} to v1.{minor + 1}"
    remedy = f"install kubectl v1.{minor} to follow the walkthrough; gpulab itself needs none"
    if shutil.which("kubectl") is None:
        return Finding("kubectl", State.WARN, "not on the PATH", wanted, remedy)
    answer = _answer(processes, "kubectl", "version", "--client", "--output=json")
    version = _client_version(answer)
    found = re.match(r"v1\.(\d+)\.", version)
    if found is None:
        return Finding("kubectl", State.WARN, "does not say its version", wanted, remedy)
    if abs(int(found[1]) - minor) <= 1:
        return Finding("kubectl", State.OK, version, wanted)
    return Finding("kubectl", State.WARN, version, wanted, remedy)


def go(processes: Processes) -> Finding:
    """Say whether Go is there: without it nothing can be built from source, and that is all."""
    wanted = "for builds from source"
    if shutil.which("go") is None:
        return Finding("go", State.OK, "not on the PATH", wanted)
    found = re.search(r"\bgo\d\S*", _answer(processes, "go", "version"))
    return Finding("go", State.OK, found[0] if found else "does not say its version", wanted)


def _answer(processes: Processes, *argv: str) -> str:
    try:
        return processes.run(argv, check=False, timeout=_SECONDS).stdout
    except (NotReady, TimedOut):
        return ""


def _client_version(answer: str) -> str:
    try:
        return str(json.loads(answer)["clientVersion"]["gitVersion"])
    except (ValueError, LookupError, TypeError):
        return ""
