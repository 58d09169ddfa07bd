"""What tests of a GPU cluster are written with.

    scenario   a function of a lab, with its titles, its fleet and what it needs
    lab        the handle: submit, delete, nodes, expect
    workloads  pods and deployments that ask for devices

A scenario imports these names from here and nothing else of the lab. They are loaded when they are
asked for: pytest imports this package in every project that has gpu-lab installed, and the client
of Kubernetes takes half a second. `scenario` alone is there at once, or its module would hide it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from lab.harness.scenario import Scenario, scenario

if TYPE_CHECKING:
    from lab.harness.failure import ExpectationFailed
    from lab.harness.lab import Lab
    from lab.harness.node import NodeHandle
    from lab.harness.submitting import Submitted
    from lab.harness.workloads import container, deployment, pod

__all__ = [
    "ExpectationFailed",
    "Lab",
    "NodeHandle",
    "Scenario",
    "Submitted",
    "container",
    "deployment",
    "pod",
    "scenario",
]

_MODULES: Final = {
    "ExpectationFailed": "failure",
    "Lab": "lab",
    "NodeHandle": "node",
    "Submitted": "submitting",
    "container": "workloads",
    "deployment": "workloads",
    "pod": "workloads",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
