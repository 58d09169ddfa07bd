"""The fixtures, by which a test has a lab for as long as it lasts.

What they do is in modules that are loaded with the first lab: this one is in every project that has
gpu-lab installed.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.harness.pytest_plugin.session import SESSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.core.errors import LabError
    from lab.harness.lab import Lab
    from lab.harness.pytest_plugin.clusters import Cluster


@pytest.fixture(scope="session")
def lab_kubeconfig(pytestconfig: pytest.Config) -> Path | None:
    """Return the kubeconfig of the cluster that labs are put on, None for the run's own clusters.

    A project overrides it to hand over a cluster that another fixture of its session has made.
    """
    return pytestconfig.stash[SESSION].settings.kubeconfig


@pytest.fixture(scope="session")
def _lab_cluster(
    lab_kubeconfig: Path | str | None, pytestconfig: pytest.Config
) -> "Iterator[Cluster | LabError]":
    from lab.harness.pytest_plugin.tested import lent  # noqa: PLC0415 - see above

    path = Path(lab_kubeconfig).absolute() if lab_kubeconfig else None
    with lent(pytestconfig.stash[SESSION], path) as found:
        yield found


@pytest.fixture
def gpu_lab(request: pytest.FixtureRequest, _lab_cluster: "Cluster | LabError") -> "Iterator[Lab]":
    """Give a lab with the fleet that the marker `gpu_lab` names, in a namespace of its own.

    No other test has it meanwhile. What the test does to nodes is undone after it, and the lab has
    to be as it was before.
    """
    from lab.harness.pytest_plugin.tested import tested  # noqa: PLC0415 - see above

    with tested(request.node, _lab_cluster, request.config.stash[SESSION]) as lab:
        yield lab


@pytest.fixture
def lab_namespace(gpu_lab: "Lab") -> str:
    """Return the name of the namespace that `gpu_lab` is in."""
    return gpu_lab.namespace
