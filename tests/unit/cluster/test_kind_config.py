"""The kind configuration: the user's file, plus what the lab needs."""

from pathlib import Path

import pytest
import yaml

from lab.cluster.kind.config import DEFAULT, OWNER_MOUNT, KindConfig, for_lab, load, workers
from lab.core.errors import UsageError

HEAD = "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n"
REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return where a test puts the user's file."""
    return tmp_path / "kind.yaml"


def roles(config: KindConfig) -> list[str]:
    """Return the roles of the nodes, in order."""
    return [node["role"] for node in config["nodes"]]


def test_default_says_what_the_file_of_the_repository_says() -> None:
    """A lab made in a checkout and one made elsewhere are the same."""
    shipped = (REPOSITORY / "kind-config.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(shipped) == yaml.safe_load(DEFAULT)


def test_default_is_the_chapters_cluster() -> None:
    """One control plane and one worker, whose kubelets report every second."""
    config = load(None)
    assert roles(config) == ["control-plane", "worker"]
    assert dict(config)["kubeadmConfigPatches"] == [
        "kind: KubeletConfiguration\nnodeStatusUpdateFrequency: 1s\n"
    ]


@pytest.mark.parametrize("nodes", ["", "nodes:\n", "nodes: []\n"])
def test_file_without_nodes_has_the_one_that_kind_makes(file: Path, nodes: str) -> None:
    """A single control plane is what kind itself creates then; the lab adds its workers to it."""
    file.write_text(HEAD + nodes)
    assert roles(load(file)) == ["control-plane"]


def test_everything_else_in_the_file_is_kept(file: Path) -> None:
    """The lab has no opinion on networking, patches or whatever kind adds one day."""
    file.write_text(f"{HEAD}networking: {{ipFamily: ipv6}}\nnodes: [{{role: worker}}]\n")
    config = for_lab(load(file), wanted_workers=1, owner_mark=Path("/mark"))
    assert dict(config)["networking"] == {"ipFamily": "ipv6"}


def test_everything_else_of_a_node_is_kept(file: Path) -> None:
    """A key of kind's own stands beside those that the lab looks at."""
    file.write_text(f"{HEAD}nodes: [{{role: worker, labels: {{tier: gold}}}}]")
    (node,) = load(file)["nodes"]
    assert dict(node) == {"role": "worker", "extraMounts": [], "labels": {"tier": "gold"}}


def test_node_without_a_role_is_a_control_plane(file: Path) -> None:
    """That is kind's own default: such a node is no worker."""
    file.write_text(f"{HEAD}nodes: [{{}}, {{role: worker}}]")
    assert (roles(load(file)), workers(load(file))) == (["control-plane", "worker"], 1)


@pytest.mark.parametrize(
    ("there", "wanted", "expected"), [(0, 0, 0), (0, 2, 2), (1, 1, 1), (1, 3, 3), (3, 1, 3)]
)
def test_missing_workers_are_added_and_none_is_removed(
    file: Path, there: int, wanted: int, expected: int
) -> None:
    """A fleet that needs fewer leaves the user's workers where they are."""
    file.write_text(f"{HEAD}nodes: [{{role: control-plane}}, {'{role: worker}, ' * there}]")
    made = for_lab(load(file), wanted_workers=wanted, owner_mark=Path("/mark"))
    assert (workers(made), roles(made)[0]) == (expected, "control-plane")


@pytest.mark.parametrize("mounts", ["", "[]", "[{hostPath: /data}]"])
def test_every_node_bears_the_mark_beside_the_users_mounts(file: Path, mounts: str) -> None:
    """The mark is what `down` later knows the nodes by; it may not cost the user a mount."""
    file.write_text(f"{HEAD}nodes:\n- role: control-plane\n  extraMounts: {mounts}\n- role: worker")
    made = for_lab(load(file), wanted_workers=2, owner_mark=Path("/mark"))
    theirs = yaml.safe_load(mounts) or []
    mark = {"hostPath": "/mark", "containerPath": OWNER_MOUNT, "readOnly": True}
    assert [each["extraMounts"] for each in made["nodes"]] == [[*theirs, mark], [mark], [mark]]


def test_users_configuration_is_not_changed() -> None:
    """The result is a new value: the same configuration serves a second lab."""
    config = load(None)
    for_lab(config, wanted_workers=5, owner_mark=Path("/mark"))
    assert config == load(None)


BEGIN = "a kind configuration begins with `kind: Cluster`"
VERSION = "the configuration's apiVersion must be kind.x-k8s.io/v1alpha4"
NODES = "`nodes` must be a list of nodes, each with a role"
ROLE = "the role of a node must be control-plane or worker"
MOUNTS = "`extraMounts` of a node must be a list of mounts"
LAUGHS = b"[&a0 [1]" + b"".join(b", &a%d [%s]" % (n, b"*a%d, " % (n - 1) * 9) for n in range(1, 9))
LAUGHS += b"]"
KEYS = "the keys of a kind configuration are words"


@pytest.mark.parametrize(
    ("text", "what", "seen", "remedy"),
    [
        ("", BEGIN, "there is none", "begin it with `kind: Cluster`"),
        ("just words", BEGIN, "just words", "begin it with `kind: Cluster`"),
        ("kind: Fleet", BEGIN, "Fleet", "begin it with `kind: Cluster`"),
        ("kind: Cluster", VERSION, "there is none", "write `apiVersion: kind.x-k8s.io/v1alpha4`"),
        ("kind: Cluster\napiVersion: v1", VERSION, "v1", "write `apiVersion: kind.x-k8s.io/"),
        (f"{HEAD}nodes: 2", NODES, "2", "write `- role: control-plane`"),
        (f"{HEAD}nodes: {{}}", NODES, "{}", "write `- role: control-plane`"),
        (f"{HEAD}nodes: [worker]", NODES, "nodes[0]: worker", "write `- role: control-plane`"),
        (
            f"{HEAD}nodes: [{{role: worker}}, {{role: wroker}}]",
            ROLE,
            "nodes[1].role: wroker",
            "write `role: control-plane` or `role: worker`",
        ),
        (
            f"{HEAD}nodes: [{{role: worker, extraMounts: /data}}]",
            MOUNTS,
            "nodes[0].extraMounts: /data",
            "write `- {hostPath: /here",
        ),
        (
            f"{HEAD}nodes: [{{extraMounts: [{{hostPath: /a}}, /b]}}]",
            MOUNTS,
            "nodes[0].extraMounts[1]: /b",
            "write `- {hostPath: /here",
        ),
        (f"{HEAD}7: up", KEYS, "7", "correct the key"),
    ],
)
def test_wrong_file_is_refused_with_the_rule(
    file: Path, text: str, what: str, seen: str, remedy: str
) -> None:
    """The error names the file, the rule, what stands there instead, and what should."""
    file.write_text(text)
    with pytest.raises(UsageError) as raised:
        load(file)
    error = raised.value
    assert (error.what, error.where, error.seen) == (what, str(file), seen)
    assert error.remedy.startswith(remedy)


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"kind: [", "expected the node content"),
        (b"a: 1\n---\nb: 2\n", "expected a single document"),
        (b"\xff\xfe\xfa", "utf-8"),
        (b"x: 2024-99-99", "month must be in 1..12"),
        pytest.param(b"x: " + b"9" * 9000, "9000 digits", id="a long number"),
        pytest.param(b"x: 0x" + b"9" * 9000, "more than 64 bits", id="a long number in hex"),
        pytest.param(b"x: " + b"[" * 3000 + b"]" * 3000, "nested too deeply", id="brackets"),
        pytest.param(b"x: " + b"[" * 40 + b"]" * 40, "at most 32 levels", id="40 brackets"),
        pytest.param(b"x: &x [*x]", "nested too deeply", id="a ring"),
        pytest.param(b"x: " + LAUGHS, "more than 200000 values", id="aliases of aliases"),
        pytest.param(b"x: !!bool perhaps", "perhaps", id="a wrong tag"),
        pytest.param(b"x: !!timestamp soon", "NoneType", id="a wrong timestamp"),
        pytest.param(b"#" * (1024 * 1024 + 1), "more than 1048576 bytes", id="too large"),
    ],
)
def test_unreadable_file_is_named(file: Path, content: bytes, seen: str) -> None:
    """Where and why the reading ended is in the error."""
    file.write_bytes(content)
    with pytest.raises(UsageError, match="the kind configuration cannot be read") as raised:
        load(file)
    assert raised.value.where == str(file)
    assert seen in raised.value.seen
    assert raised.value.remedy == "correct the file, or name another one with --kind-config"


def test_missing_file_is_named(file: Path) -> None:
    """The system's own words say that it is not there."""
    with pytest.raises(UsageError, match="cannot be read") as raised:
        load(file)
    assert "No such file" in raised.value.seen
