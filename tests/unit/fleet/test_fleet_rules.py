"""Rules between the values of a fleet."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.core.fleet import Fleet, Pool, load_fleet

HEAD = "apiVersion: gpu-lab/v1\nkind: Fleet\n"


def pools(*entries: str) -> str:
    """Return a file with pools `p0`, `p1`… of one node, two devices and these further keys."""
    lines = (
        f"- {{name: p{at}, nodes: 1, count: 2, {entry}}}\n" for at, entry in enumerate(entries)
    )
    return f"{HEAD}pools:\n{''.join(lines)}"


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        (
            "resource: -",
            (
                "pools[0]: does not say what its devices are (exactly one of accelerator and "
                "resource); add one, such as `resource: fake.example.com/device`"
            ),
        ),
        (
            "nodeNames: [w1, w2]",
            (
                "pools[0].nodeNames: has 2 names where nodes is 1 (one name for each node); "
                "set nodes to 2, or correct the names"
            ),
        ),
        (
            "nodes: 2\nnodeNames: [w1, w1]",
            'pools[0].nodeNames[1]: is "w1" again (each node once)',
        ),
        (
            "numa: [0]",
            (
                "pools[0].numa: has 1 number where count is 2 (one number for each device); "
                "make them equal"
            ),
        ),
    ],
)
def test_rule_within_a_pool(
    findings_of_pool: Callable[[str], list[str]], changes: str, found: str
) -> None:
    """Keys of a pool that contradict each other are found."""
    assert findings_of_pool(changes) == [found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            pools(*["resource: a.example.com/x"] * 2).replace("p1", "p0"),
            (
                ':5:10: pools[1].name: is "p0", as is pools[0].name (a name stands for one pool); '
                "rename one of the two"
            ),
        ),
        (
            pools(*["resource: a.example.com/x, nodeNames: [w1]"] * 2),
            (
                ':5:73: pools[1].nodeNames[0]: takes "w1", on which pool p0 offers a.example.com/x '
                "(a node is in one pool for each resource); take another node, or another resource"
            ),
        ),
        (
            pools("resource: a.example.com/x", "resource: a.example.com/x, nodeNames: [p0-0]"),
            (
                ':5:73: pools[1].nodeNames[0]: takes "p0-0", on which pool p0 offers '
                "a.example.com/x (a node is in one pool for each resource); "
                "take another node, or another resource"
            ),
        ),
        (
            pools(*[f"resource: a{at}.example.com/x" for at in range(2)]).replace(
                "nodes: 1", "nodes: 3000"
            ),
            (
                ":4:1: pools: have 6000 nodes together (at most 5000, "
                "as many as Kubernetes supports in a cluster); lower pools[].nodes"
            ),
        ),
        (
            pools("accelerator: nvidia-l4-24gb, resource: a.example.com/x"),
            (
                ":4:73: pools[0].resource: is given beside accelerator "
                "(exactly one of accelerator and resource); remove one"
            ),
        ),
    ],
)
def test_rule_between_keys(findings_of: Callable[[str], list[str]], text: str, found: str) -> None:
    """What two places of the file break together is found at the second."""
    assert found in findings_of(text)


@pytest.mark.parametrize(
    ("flap", "found"),
    [
        (
            "{node: p0-0, device: 0, becomes: healthy}",
            "health.script[0]: does not say when (exactly one of at and every)",
        ),
        (
            "{at: 1s, every: 5m, node: p0-0, device: 0, becomes: healthy}",
            "health.script[0]: says both at and every (exactly one of at and every)",
        ),
        (
            "{at: 1s, node: p0-1, device: 0, becomes: healthy}",
            'health.script[0].node: is "p0-1", a node that no pool has (nodes: p0-0)',
        ),
        (
            "{at: 1s, node: p0-0, device: 2, becomes: toggled}",
            "health.script[0].device: is 2 (p0-0 has devices 0 to 1)",
        ),
        (
            "{at: 1s, node: p0-0, device: 0, becomes: unhealthy, xid: 79, ecc: single-bit}",
            "health.script[0]: says xid and ecc (a card breaks for one reason)",
        ),
        (
            "{at: 1s, node: p0-0, device: 0, becomes: healthy, xid: 79}",
            (
                "health.script[0].xid: is given where the device becomes healthy "
                "(it says why a device breaks); remove it"
            ),
        ),
        (
            '{at: 1s, node: p0-0, device: 0, becomes: unhealthy, code: "80E01801"}',
            (
                "health.script[0].code: does not fit the device (nvidia cards have no fault-code: "
                "that is for ascend); remove it"
            ),
        ),
        (
            "{at: 1s, node: p0-0, device: 0, becomes: unhealthy, code: 80e1}",
            ('health.script[0].code: is "80e1" (eight hexadecimal digits, as in 80E01801)'),
        ),
    ],
)
def test_rule_of_the_health_script(
    findings_of: Callable[[str], list[str]], flap: str, found: str
) -> None:
    """A flap names a time, a node and a device that exist, and a reason that fits it."""
    text = pools("accelerator: nvidia-l4-24gb") + f"health: {{script: [{flap}]}}\n"
    assert [line.split(": ", 1)[1] for line in findings_of(text)] == [found]


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        (
            "{call: Allocate, node: b-0, fails: x}",
            '.node: is "b-0", a node that no pool has (nodes: p0-0)',
        ),
        (
            "{call: Allocate}",
            (": does not say what goes wrong (exactly one of fails, delay, hang, answers, drop)"),
        ),
        (
            "{call: Allocate, fails: x, hang: true}",
            ": says fails and hang (exactly one of fails, delay, hang, answers, drop)",
        ),
        (
            "{call: Allocate, delay: 1s, code: ABORTED}",
            ".code: is given with delay (only fails has a code)",
        ),
        (
            "{call: Allocate, drop: 1s}",
            (
                '.call: is "Allocate" '
                "(Allocate has no stream that could be dropped: only ListAndWatch has)"
            ),
        ),
        (
            "{call: Register, answers: empty}",
            '.call: is "Register" (the answer to Register has no content that could be wrong)',
        ),
        ("{call: Allocate, hang: false}", ".hang: is false (must be true)"),
        (
            "{call: Allocate, fails: " + "é" * 513 + "}",
            '.fails: is "' + "é" * 40 + '…" (at most 512 characters)',
        ),
        ("{call: Allocate, fails: x, code: OK}", '.code: is "OK" (a code of gRPC: CANCELLED, '),
    ],
)
def test_rule_of_faults(findings_of: Callable[[str], list[str]], fault: str, found: str) -> None:
    """A fault names a node that exists, and one thing that can go wrong with the call."""
    (line,) = findings_of(pools("resource: a.example.com/x") + f"faults: [{fault}]\n")
    assert f": faults[0]{found}" in line


@pytest.mark.parametrize(
    "reference",
    [
        "faults: [{call: Allocate, node: a-0, fails: x}]",
        "health: {script: [{at: 1s, node: a-0, device: 0, becomes: healthy}]}",
    ],
)
def test_rule_of_nodes_waits_for_sound_pools(
    findings_of: Callable[[str], list[str]], reference: str
) -> None:
    """While a pool is malformed, its nodes are not called unknown."""
    lines = findings_of(f"{HEAD}pools: [{{name: a}}]\n{reference}\n")
    assert not any("no pool has" in line for line in lines)


def test_one_node_serves_two_resources(tmp_path: Path) -> None:
    """Two pools may share a node where their resources differ."""
    file = tmp_path / "f.yaml"
    names = [f"resource: {vendor}.example.com/x, nodeNames: [w1]" for vendor in ("a", "b")]
    file.write_text(pools(*names))
    assert load_fleet(file) == Fleet(
        tuple(
            Pool(f"p{at}", 1, f"{vendor}.example.com/x", 2, node_names=("w1",))
            for at, vendor in enumerate("ab")
        )
    )
