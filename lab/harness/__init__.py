"""What tests of a GPU cluster are written with.

    scenario   a function of a lab, with its titles, its fleet and what it needs
    lab        the handle: submit, delete, nodes, expect
    workloads  pods and deployments that ask for devices

A scenario imports these names from here and nothing else of the lab.
"""

from lab.harness.failure import ExpectationFailed
from lab.harness.lab import Lab, Submitted
from lab.harness.node import NodeHandle
from lab.harness.scenario import Scenario, scenario
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
