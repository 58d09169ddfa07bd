"""The pytest plugin: a GPU cluster for each test of a project that has gpu-lab installed.

options     what can be said on the command line, or in the environment
wishes      what a test asks of its lab
fixtures    by which it has one: `gpu_lab`, `lab_namespace`, `lab_kubeconfig`
hooks       what pytest and pytest-xdist call; with `conclusion`, those of the end
session     what a process of a run knows
forks       where processes end that a test has forked
runs        what of it is on disk, for the next run to tidy up after one that was killed
clusters, ordering, tested, judging, ending
            what is loaded with the first lab
"""

from lab.harness.pytest_plugin.fixtures import (
    _lab_cluster,
    gpu_lab,
    lab_kubeconfig,
    lab_namespace,
)
from lab.harness.pytest_plugin.hooks import (
    pytest_addoption,
    pytest_cmdline_main,
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_configure_node,
    pytest_report_header,
    pytest_runtest_makereport,
    pytest_runtest_setup,
    pytest_runtest_teardown,
    pytest_xdist_node_collection_finished,
)

__all__ = [
    "_lab_cluster",
    "gpu_lab",
    "lab_kubeconfig",
    "lab_namespace",
    "pytest_addoption",
    "pytest_cmdline_main",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_configure_node",
    "pytest_report_header",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "pytest_runtest_teardown",
    "pytest_xdist_node_collection_finished",
]
