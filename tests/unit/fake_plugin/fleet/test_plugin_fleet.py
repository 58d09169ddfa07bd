"""What the fleet file gives to a node, and how a wrong file is refused."""

from pathlib import Path

import pytest

from fake_plugin.errors import WrongUse
from fake_plugin.fleet.reading import read_plan
from fake_plugin.plan import Share

HEAD = "apiVersion: gpu-lab/v1\nkind: Fleet\n"
POOL = "name: chapter, nodes: 2, resource: example.com/device, count: 2"


def fleet(tmp_path: Path, text: str) -> Path:
    """Return a file with that text."""
    file = tmp_path / "fleet.yaml"
    file.write_text(text)
    return file


def of_pools(*pools: str) -> str:
    """Return a fleet of these pools, each given as the inside of a mapping."""
    return HEAD + "pools:\n" + "".join(f"  - {{{pool}}}\n" for pool in pools)


@pytest.mark.parametrize(
    ("node", "count"), [("chapter-0", 1), ("chapter-1", 1), ("chapter-2", 0), ("chapter", 0)]
)
def test_a_pool_without_node_names_has_numbered_nodes(
    tmp_path: Path, node: str, count: int
) -> None:
    """A pool of two has the nodes 0 and 1."""
    shares = read_plan(fleet(tmp_path, of_pools(POOL)), node).shares
    assert shares == (Share("chapter", node, 2, resource="example.com/device"),) * count


@pytest.mark.parametrize("node", ["chapter-0", "chapter-299999999"])
def test_a_node_of_many_is_told_by_its_number(tmp_path: Path, node: str) -> None:
    """However many there are, the others are not counted out."""
    file = fleet(tmp_path, of_pools(POOL.replace("nodes: 2", "nodes: 300000000")))
    assert read_plan(file, node).shares


@pytest.mark.parametrize(
    "number", ["300000000", "00", "+1", "-1", "1_0", "\u0661", "1\n", "", "chapter-0", "9" * 5000]
)
def test_a_node_of_another_number_is_none(tmp_path: Path, number: str) -> None:
    """The number is below that of nodes, and written as in the node's name."""
    file = fleet(tmp_path, of_pools(POOL.replace("nodes: 2", "nodes: 300000000")))
    assert read_plan(file, f"chapter-{number}").shares == ()


def test_node_names_replace_the_numbered_ones(tmp_path: Path) -> None:
    """A pool that names its nodes has these and no others."""
    file = fleet(tmp_path, of_pools(f"{POOL}, nodeNames: [kind-worker, kind-worker2]"))
    assert [bool(read_plan(file, node).shares) for node in ("kind-worker2", "chapter-0")] == [
        True,
        False,
    ]


def test_pools_of_two_resources_may_share_a_node(tmp_path: Path) -> None:
    """A node has what each of its pools gives, in the order of the file."""
    rest = "nodes: 1, nodeNames: [worker], count: 1"
    file = fleet(
        tmp_path,
        of_pools(f"name: b, resource: b.com/x, {rest}", f"name: a, resource: a.com/x, {rest}"),
    )
    assert [share.resource for share in read_plan(file, "worker").shares] == ["b.com/x", "a.com/x"]


def test_a_taint_is_left_to_the_lab(tmp_path: Path) -> None:
    """The lab writes it into the same file, and taints the node itself."""
    assert read_plan(fleet(tmp_path, of_pools(f"{POOL}, taint: true")), "chapter-0").shares


@pytest.mark.parametrize("key", ["Count", "gpu", "renameByDefault"])
def test_a_key_of_a_pool_that_is_not_acted_on_is_refused(tmp_path: Path, key: str) -> None:
    """It is named, also where the pool is about other nodes."""
    with pytest.raises(WrongUse) as caught:
        read_plan(fleet(tmp_path, of_pools(f"{POOL}, {key}: 1")), "elsewhere")
    assert f"pools[0].{key} is not something that this plugin acts on" in caught.value.what
    assert "nodeNames" in caught.value.seen


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("gpu-lab/v1", "gpu-lab/v2", "apiVersion must be gpu-lab/v1"),
        ("Fleet", "Pod", "kind must be Fleet"),
        ("kind: Fleet\n", "", "kind is missing"),
        ("kind: Fleet\n", "kind: Fleet\nfault: []\n", "fault is not something that this plugin"),
        ("count: 2", "count: 74899", "pools[0].count must be a whole number from 0 to 74898"),
        ("count: 2", "count: -1", "pools[0].count must be a whole number from 0"),
        ("count: 2", "count: true", "pools[0].count must be a whole number from 0"),
        ("count: 2", "count: '2'", "pools[0].count must be a whole number from 0"),
        (", count: 2", "", "pools[0].count is missing"),
        ("nodes: 2", "nodes: 0", "pools[0].nodes must be a whole number from 1"),
        ("nodes: 2", "nodes: 2.0", "pools[0].nodes must be a whole number from 1"),
        ("name: chapter", "name: 7", "pools[0].name must be text"),
        ("name: chapter", "name: ''", "pools[0].name must be text"),
        ("example.com/device", "gpu", "pools[0].resource is gpu (needs a vendor domain"),
        (
            "example.com/device",
            "a.kubernetes.io/gpu",
            "pools[0].resource is a.kubernetes.io/gpu (must not be under",
        ),
        ("nodes: 2", "nodes: 2, nodeNames: [a]", "pools[0].nodeNames must have as many names"),
        ("nodes: 2", "nodes: 2, nodeNames: [a, a]", "pools[0].nodeNames must not name anything"),
        ("nodes: 2", "nodes: 2, nodeNames: a", "pools[0].nodeNames must be a list of names"),
        ("nodes: 2", "nodes: 2, nodeNames: [1, 2]", "pools[0].nodeNames must be a list of names"),
        ("nodes: 2", "nodes: 2, taint: 1", "pools[0].taint must be true or false"),
        ("nodes: 2", "nodes: 2, nodes: 3", "is no YAML"),
        ("nodes: 2", "nodes: [", "is no YAML"),
        ("nodes: 2", "nodes: 2, [a]: 3, [a]: 3", "is no YAML"),
        ("nodes: 2", "nodes: !!int ''", "is no YAML"),
        ("nodes: 2", "nodes: !!bool maybe", "is no YAML"),
        ("nodes: 2", "nodes: !!timestamp soon", "is no YAML"),
        ("nodes: 2", "nodes: !!map [a, b]", "is no YAML"),
        ("nodes: 2", f"nodes: 1{':1' * 5000}.0", "is no YAML"),
        ("nodes: 2", "nodes: &a [*a]", "pools[0].nodes must be a whole number from 1"),
        ("count: 2", f"count: 0x{'f' * 5000}", "pools[0].count must be a whole number from 0 to"),
        ("nodes: 2", "nodes: 2147483648", "pools[0].nodes must be a whole number from 1 to 21474"),
        ("nodes: 2", "1: 2", "pools[0] must be a mapping"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, text: str) -> None:
    """The error has the file, the key and the rule."""
    file = fleet(tmp_path, of_pools(POOL).replace(old, new))
    with pytest.raises(WrongUse) as caught:
        read_plan(file, "chapter-0")
    assert caught.value.what.startswith(f"the fleet file: {text}")
    assert caught.value.where == str(file)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "text", "\0", HEAD, HEAD + "pools: []", HEAD + "pools: {}", HEAD + "pools: [7]"],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, text: str) -> None:
    """Whatever is in the file, the answer is an error and not a failure."""
    with pytest.raises(WrongUse, match=r"^the fleet file: "):
        read_plan(fleet(tmp_path, text), "chapter-0")


def test_a_value_that_does_not_fit_its_tag_is_told(tmp_path: Path) -> None:
    """PyYAML's own words for it tell nothing, so it is said what they are about."""
    file = fleet(tmp_path, of_pools(POOL).replace("nodes: 2", "nodes: !!bool maybe"))
    with pytest.raises(WrongUse) as caught:
        read_plan(file, "chapter-0")
    assert caught.value.seen == "a value does not fit its tag (KeyError('maybe'))"


def test_aliases_that_multiply_are_refused(tmp_path: Path) -> None:
    """A short file whose value would take all of the memory to be shown is refused at once."""
    lists = [f"k{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]" for at in range(1, 10)]
    file = fleet(tmp_path, "\n".join(["k0: &a0 [x]", *lists, "pools: *a9"]))
    with pytest.raises(WrongUse, match="is no YAML") as caught:
        read_plan(file, "chapter-0")
    assert caught.value.seen == "more than 200000 values, aliases counted"


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """A file in another encoding is an error and not a failure."""
    file = tmp_path / "fleet.yaml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WrongUse, match="is no YAML"):
        read_plan(file, "chapter-0")


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    """The system's own words are part of the error."""
    with pytest.raises(WrongUse, match="cannot be read") as caught:
        read_plan(tmp_path / "none.yaml", "chapter-0")
    assert caught.value.seen == "No such file or directory"


@pytest.mark.parametrize(
    ("second", "text"),
    [
        ("name: chapter, resource: b.com/x", "pools[1].name is that of a pool before this one"),
        (
            "name: other, resource: a.com/x",
            "pools[1].resource brings a.com/x, which w has from a pool",
        ),
    ],
)
def test_pools_must_not_contradict_each_other(tmp_path: Path, second: str, text: str) -> None:
    """A name stands for one pool, and a resource of a node comes from one pool."""
    rest = "nodes: 1, count: 1, nodeNames: [w]"
    file = fleet(
        tmp_path, of_pools(f"name: chapter, resource: a.com/x, {rest}", f"{second}, {rest}")
    )
    with pytest.raises(WrongUse) as caught:
        read_plan(file, "w")
    assert text in caught.value.what
