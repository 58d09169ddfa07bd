"""A plugin that is on a node before the lab's own, and what is none."""

from dataclasses import replace
from pathlib import Path

import pytest

from lab.cluster.objects import Node
from lab.core.errors import UsageError
from lab.core.fleet import Fleet, Pool
from lab.install.deployment import NODE_LABEL
from lab.install.rivals import refuse_rivals

OTHERS = "nvidia.com/gpu"
OWN = Fleet.default().placed_on(("w",))
WANTED = Fleet((Pool("nvidia", 1, OTHERS, 2),)).placed_on(("w",))
THERE = Node(
    "w",
    ready=True,
    version="v1.36.3",
    labels={NODE_LABEL: "true"},
    taints=frozenset(),
    capacity={OTHERS: 4},
    allocatable={OTHERS: 4},
    heard=None,
)


def test_a_node_that_the_lab_has_already_may_have_a_rival_all_the_same() -> None:
    """What the lab has put there is known by its earlier fleet, and that resource is not of it."""
    with pytest.raises(UsageError) as raised:
        refuse_rivals((THERE,), WANTED, OWN, Path("/my lab/kubeconfig"))
    assert raised.value.what == f"another plugin serves {OTHERS} on a node of the fleet"
    assert raised.value.seen == f"{OTHERS}: 4 allocatable, and the lab has not put it there"
    assert raised.value.commands == (
        "kubectl --kubeconfig '/my lab/kubeconfig' get pods -A --field-selector spec.nodeName=w",
    )


@pytest.mark.parametrize(
    ("node", "earlier"),
    [
        (THERE, WANTED),
        (THERE, None),
        (replace(THERE, name="other"), OWN),
        (replace(THERE, allocatable={OTHERS: 0}), OWN),
        (replace(THERE, allocatable={}), OWN),
    ],
    ids=["ours", "labelled, and no fleet known", "not of the fleet", "gone", "never there"],
)
def test_what_is_no_rival_is_let_be(node: Node, earlier: Fleet | None) -> None:
    """It is the lab's own, or not on a node of the fleet, or has gone."""
    refuse_rivals((node,), WANTED, earlier, Path("kubeconfig"))
