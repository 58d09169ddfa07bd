"""Which backend a lab is on."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.cluster.record import BackendName, Record
from lab.core.errors import UsageError
from lab.core.fleet import Fleet
from lab.install.choice import chosen_backend
from lab.install.order import Order

ORDER = Order("t-lab", Fleet.default(), None, None, 30)
CONFIG = Path("config")


@pytest.mark.parametrize(
    ("order", "record", "chosen"),
    [
        ({}, None, "kind"),
        ({"kubeconfig": CONFIG}, None, "existing"),
        ({"backend": "existing", "kubeconfig": CONFIG}, None, "existing"),
        ({"backend": "kind", "found_config": CONFIG}, None, "kind"),
        ({}, "existing", "existing"),
        ({"found_config": CONFIG}, "existing", "existing"),
        ({"nodes": ("a",)}, "existing", "existing"),
        ({"backend": "kind", "node_image": "node:v1"}, "kind", "kind"),
    ],
)
def test_a_lab_keeps_its_backend_and_a_new_one_is_guessed(
    order: dict[str, Any], record: BackendName | None, chosen: BackendName
) -> None:
    """By whether a kubeconfig is given, where none is asked for."""
    there = Record("t-lab", record, "ready") if record else None
    assert chosen_backend(replace(ORDER, **order), there) == chosen


@pytest.mark.parametrize(
    ("order", "of_kind", "of_existing"),
    [
        ({"backend": "kind", "kubeconfig": CONFIG}, "--backend kind", "--kubeconfig"),
        ({"backend": "existing", "node_image": "i"}, "--node-image", "--backend existing"),
        (
            {"kubeconfig": CONFIG, "context": "c", "kind_config": CONFIG, "node_image": "i"},
            "--kind-config, --node-image",
            "--kubeconfig, --context",
        ),
    ],
)
@pytest.mark.parametrize("record", [None, "kind", "existing"])
def test_what_contradicts_itself_is_refused(
    order: dict[str, Any], of_kind: str, of_existing: str, record: BackendName | None
) -> None:
    """Nothing that was asked for is silently left out, whatever lab is there."""
    assert refused(order, record).what == (
        f"{of_kind}: for a cluster of kind, and {of_existing} for one that is there already"
    )


@pytest.mark.parametrize(
    ("order", "record", "asked"),
    [
        ({"plugin_image": "i", "nodes": ("a",)}, "kind", "--nodes, --plugin-image"),
        ({"backend": "existing", "kubeconfig": CONFIG}, "kind", "--backend existing, --kubeconfig"),
        ({"node_image": "i"}, "existing", "--node-image"),
        ({"backend": "kind"}, "existing", "--backend kind"),
    ],
)
def test_what_the_lab_is_not_is_refused(
    order: dict[str, Any], record: BackendName, asked: str
) -> None:
    """Nothing is silently left out here either."""
    error = refused(order, record)
    assert error.what == f"{asked}: the lab 't-lab' is on the backend {record!r}"
    assert error.commands == ("gpulab down --name t-lab",)


@pytest.mark.parametrize(
    ("order", "asked"),
    [
        ({"context": "c", "nodes": ("a",)}, "--context, --nodes"),
        ({"backend": "existing"}, "--backend existing"),
    ],
)
def test_a_cluster_that_nothing_names_is_asked_for(order: dict[str, Any], asked: str) -> None:
    """One of kind would be another than the one that is meant."""
    error = refused(order, None)
    assert error.what == (
        f"{asked}: for a cluster that is there already, and nothing names its kubeconfig"
    )
    assert error.remedy == f"name it with --kubeconfig, or leave out {asked}"


def test_what_is_missing_is_asked_for_as_it_is_called_there() -> None:
    """The options of pytest have other names, and so have variables and fixtures."""
    called = {"nodes": "GPULAB_LAB_NODES", "kubeconfig": "--lab-kubeconfig"}
    assert refused({"nodes": ("a",), "called": called}, None).render() == (
        "GPULAB_LAB_NODES: for a cluster that is there already, and nothing names its kubeconfig\n"
        "  next:  name it with --lab-kubeconfig, or leave out GPULAB_LAB_NODES"
    )


def refused(order: dict[str, Any], record: BackendName | None) -> UsageError:
    """Return the error of an order that is refused, with a lab of that backend or with none."""
    there = Record("t-lab", record, "ready") if record else None
    with pytest.raises(UsageError) as raised:
        chosen_backend(replace(ORDER, **order), there)
    return raised.value
