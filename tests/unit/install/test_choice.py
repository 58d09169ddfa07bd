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
        ({"backend": "existing"}, None, "existing"),
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
    ("order", "record", "what"),
    [
        ({"backend": "kind", "kubeconfig": CONFIG}, None, "--kubeconfig: for the backend 'exist"),
        ({"context": "c", "nodes": ("a",)}, None, "--context, --nodes: for the backend 'existing'"),
        ({"plugin_image": "i"}, "kind", "--plugin-image: for the backend 'existing'"),
        ({"kubeconfig": CONFIG, "kind_config": CONFIG}, None, "--kind-config: for the backend 'k"),
        ({"node_image": "i"}, "existing", "--node-image: for the backend 'kind', and this lab is"),
        ({"backend": "kind"}, "existing", "'kind' is asked for, and the lab 't-lab' is on the"),
        ({"backend": "existing"}, "kind", "'existing' is asked for, and the lab 't-lab' is on"),
    ],
)
def test_what_contradicts_itself_or_the_lab_is_refused(
    order: dict[str, Any], record: BackendName | None, what: str
) -> None:
    """Nothing that was asked for is silently left out."""
    there = Record("t-lab", record, "ready") if record else None
    with pytest.raises(UsageError) as raised:
        chosen_backend(replace(ORDER, **order), there)
    assert raised.value.what.startswith(what)
