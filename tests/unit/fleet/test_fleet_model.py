"""The fleet inside: its nodes, its taints, and where it is placed."""

import subprocess
import sys

import pytest

from lab.core.errors import UsageError
from lab.core.exit_codes import ExitCode
from lab.core.fleet import Fleet, FleetNode, Pool, Taint

SMALL = Pool("small", nodes=1, resource="small.example.com/x", count=2)
LARGE = Pool("large", nodes=2, resource="large.example.com/x", count=8, taint=True)


def test_default_fleet_is_the_chapters() -> None:
    """The default is one worker with two devices and no taint."""
    assert Fleet.default().nodes() == (
        FleetNode("chapter-0", None, "chapter", {"fake.example.com/device": 2}, None),
    )


def test_nodes_come_pool_by_pool() -> None:
    """Nodes are numbered from 0 in each pool, in the order of the file."""
    nodes = Fleet((SMALL, LARGE)).nodes()
    assert [node.name for node in nodes] == ["small-0", "large-0", "large-1"]


def test_taint_bears_the_resource() -> None:
    """A tainted pool keeps pods away that do not tolerate its resource."""
    taint = Fleet((LARGE,)).nodes()[0].taint
    assert taint == Taint("large.example.com/x", "present", "NoSchedule")
    assert str(taint) == "large.example.com/x=present:NoSchedule"


def test_workers_count_a_shared_node_once() -> None:
    """Two pools on one named node take one worker, and each node of no name one more."""
    named = [
        Pool(name, nodes=1, resource=f"{name}.example.com/x", count=1, node_names=("w1",))
        for name in ("a", "b")
    ]
    assert Fleet((*named, LARGE)).workers() == 3


def test_placing_takes_workers_in_order() -> None:
    """Each pool takes the next workers, and the last ones stay free."""
    nodes = Fleet((SMALL, LARGE)).placed_on(["w1", "w2", "w3", "w4"]).nodes()
    assert [node.node_name for node in nodes] == ["w1", "w2", "w3"]


def test_a_shared_node_is_one_of_several_names() -> None:
    """It goes by the fleet's names and by the cluster's, and no node by any other."""
    a, b = (
        Pool(name, nodes=1, resource=f"{name}.example.com/x", count=1, node_names=("w1",))
        for name in ("a", "b")
    )
    fleet = Fleet((a, b, SMALL)).placed_on(["w1", "w2"])
    nodes = {node: [each.name for each in members] for node, members in fleet.by_node().items()}
    assert nodes == {"w1": ["a-0", "b-0"], "w2": ["small-0"]}
    assert fleet.names() == ("a-0", "b-0", "w1", "small-0", "w2")
    found = [fleet.node_named(name) for name in ("b-0", "w1", "small-0", "w2", "b", "")]
    assert found == ["w1", "w1", "w2", "w2", None, None]


def test_a_name_of_the_fleet_goes_before_one_of_the_cluster() -> None:
    """Where a cluster's node has the name that the fleet has for another."""
    assert Fleet((LARGE,)).placed_on(["large-1", "w"]).node_named("large-1") == "w"


def test_a_fleet_that_is_not_placed_has_no_nodes_of_a_cluster() -> None:
    """Whoever asks for them has forgotten to place it."""
    with pytest.raises(ValueError, match="small-0 is not placed"):
        Fleet((SMALL,)).by_node()


def test_placing_leaves_named_nodes_to_their_pool() -> None:
    """A pool that names its node keeps it, whatever pool comes first."""
    named = Pool("named", nodes=1, resource="n.example.com/x", count=1, node_names=("w1",))
    nodes = Fleet((SMALL, named)).placed_on(["w1", "w2"]).nodes()
    assert [(node.name, node.node_name) for node in nodes] == [("small-0", "w2"), ("named-0", "w1")]


def test_placing_twice_changes_nothing() -> None:
    """A placed fleet stays where it is."""
    placed = Fleet((SMALL, LARGE)).placed_on(["w1", "w2", "w3"])
    assert placed.placed_on(["w3", "w2", "w1"]) == placed


def test_placing_refuses_too_few_workers() -> None:
    """The error says how many workers are needed and which there are."""
    with pytest.raises(UsageError) as error:
        Fleet((SMALL, LARGE)).placed_on(["w1"])
    assert error.value.render() == (
        "the fleet needs 3 workers, and the cluster has 1\n"
        "  seen:  workers to take: w1\n"
        "  next:  add workers to the cluster, or lower pools[].nodes in the fleet"
    )
    assert error.value.exit_code is ExitCode.USAGE


def test_placing_counts_named_workers_as_taken() -> None:
    """Where a pool has named the only worker, the error does not offer it again."""
    named = Pool("named", nodes=1, resource="n.example.com/x", count=1, node_names=("w1",))
    with pytest.raises(UsageError) as error:
        Fleet((named, SMALL)).placed_on(["w1"])
    assert (
        error.value.what == "the fleet needs 1 worker beside those it names, and the cluster has 0"
    )
    assert error.value.seen == "workers to take: none"


def test_placing_refuses_unknown_names() -> None:
    """A named node that the cluster lacks is named, beside those it has."""
    named = Pool("named", nodes=1, resource="n.example.com/x", count=1, node_names=("gone",))
    with pytest.raises(UsageError) as error:
        Fleet((named,)).placed_on([f"w{number}" for number in range(12)])
    assert error.value.what == "the fleet names nodes that the cluster does not have: gone"
    assert error.value.seen.endswith("w8, w9 and 2 more")


def test_package_imports_neither_yaml_nor_pydantic() -> None:
    """The package is cheap to import: the command line shows its help within 150 ms."""
    program = (
        "import sys, lab.core.fleet as f; f.Fleet.default().nodes();"
        "print([name for name in ('google.protobuf', 'pydantic', 'yaml') if name in sys.modules])"
    )
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert printed.strip() == "[]"
