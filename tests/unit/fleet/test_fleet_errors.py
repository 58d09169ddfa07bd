"""What an error of a fleet file says: every mistake, its line, key, rule and remedy."""

from collections.abc import Callable

import pytest

from lab.core.exit_codes import ExitCode
from lab.core.fleet import FleetError
from lab.core.fleet.findings import Finding, shown
from lab.core.fleet.reading import read_text

HEAD = "apiVersion: gpu-lab/v1\nkind: Fleet\n"
LABEL = "a DNS label: lower-case letters, digits and '-', a letter or digit at both ends"


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ("name: -", "pools[0].name: is missing; add name"),
        ("name: 5", 'pools[0].name: is 5 (must be text); quote it: "5"'),
        ("name: Big", f'pools[0].name: is "Big" ({LABEL})'),
        ("name: a.b", f'pools[0].name: is "a.b" ({LABEL})'),
        ("name: a-", f'pools[0].name: is "a-" ({LABEL})'),
        (f"name: {'a' * 64}", f'pools[0].name: is "{"a" * 40}…" (at most 63 characters)'),
        ("nodes: -", "pools[0].nodes: is missing; add nodes"),
        ("nodes: 0", "pools[0].nodes: is 0 (at least 1); use 1"),
        (
            "nodes: 5001",
            (
                "pools[0].nodes: is 5001 "
                "(at most 5000, as many as Kubernetes supports in a cluster); use 5000"
            ),
        ),
        ("nodes: true", "pools[0].nodes: is true (must be a whole number)"),
        ("nodes: 1.0", "pools[0].nodes: is 1.0 (must be a whole number)"),
        ('nodes: "1"', 'pools[0].nodes: is "1" (must be a whole number)'),
        ("count: -1", "pools[0].count: is -1 (at least 0); use 0"),
        (
            "count: 74899",
            (
                "pools[0].count: is 74899 "
                "(at most 74898: the kubelet takes no larger list from a plugin); use 74898"
            ),
        ),
        ('taint: "yes"', 'pools[0].taint: is "yes" (must be true or false)'),
        ("nodeNames: w1", 'pools[0].nodeNames: is "w1" (must be a list)'),
        ("nodeNames: []", "pools[0].nodeNames: is empty (at least one)"),
        (
            "nodeNames: [W_1]",
            (
                'pools[0].nodeNames[0]: is "W_1" '
                "(a node's name: DNS labels with dots between, all lower-case)"
            ),
        ),
        (
            "resource: gpu",
            (
                'pools[0].resource: is "gpu" '
                "(needs a vendor domain before a slash, as in example.com/device)"
            ),
        ),
        (
            "resource: requests.nvidia.com/gpu",
            (
                'pools[0].resource: is "requests.nvidia.com/gpu" '
                '(must not start with "requests.", which quotas use)'
            ),
        ),
        ("sharing: 4", "pools[0].sharing: is 4 (must be a mapping)"),
        (
            "sharing: {strategy: time-slicing, replicas: 1}",
            (
                "pools[0].sharing.replicas: is 1 "
                "(at least 2: a device that is offered once is not shared); use 2"
            ),
        ),
        (
            "sharing: {strategy: fair, replicas: 2}",
            (
                'pools[0].sharing.strategy: is "fair" '
                "(must be 'time-slicing', 'mps' or 'percentage')"
            ),
        ),
        ("numa: [0, -1]", "pools[0].numa[1]: is -1 (at least 0); use 0"),
    ],
)
def test_error_names_key_value_and_rule(
    findings_of_pool: Callable[[str], list[str]], changes: str, found: str
) -> None:
    """One wrong value gives one finding, which says what it is and what it must be."""
    assert findings_of_pool(changes) == [found]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        (
            "nodenames: [w]",
            "pools[0].nodenames: is not a key of this place; did you mean nodeNames?",
        ),
        ("taints: true", "pools[0].taints: is not a key of this place; did you mean taint?"),
        ("tiant: 1", "pools[0].tiant: is not a key of this place; did you mean taint?"),
        ("node: 1", "pools[0].node: is not a key of this place; did you mean nodes?"),
        (
            "rename: true",
            "pools[0].rename: is not a key of this place; it belongs at pools[].sharing.rename",
        ),
        ("gpus: 8", "pools[0].gpus: is not a key of this place; did you mean count?"),
        (
            "replicas: 4",
            "pools[0].replicas: is not a key of this place; it belongs at pools[].sharing.replicas",
        ),
        (
            "renameByDefault: true",
            (
                "pools[0].renameByDefault: is not a key of this place; "
                "it belongs at pools[].sharing.rename"
            ),
        ),
        ("faults: []", "pools[0].faults: is not a key of this place; it belongs at faults"),
        (
            "device: 1",
            "pools[0].device: is not a key of this place; it belongs at health.script[].device",
        ),
        (
            "zzz: 1",
            (
                "pools[0].zzz: is not a key of this place; known here: name, nodes, nodeNames, "
                "accelerator, resource, alias, dialect, count, numa, sharing, partitions, "
                "nvidiaConfig, answering, preStart, "
                "healthPolicy, load, taint"
            ),
        ),
        (
            '"a b": 1',
            (
                'pools[0]."a b": is not a key of this place; known here: name, nodes, nodeNames, '
                "accelerator, resource, alias, dialect, count, numa, sharing, partitions, "
                "nvidiaConfig, answering, preStart, "
                "healthPolicy, load, taint"
            ),
        ),
    ],
)
def test_error_says_where_a_wrong_key_belongs(
    findings_of_pool: Callable[[str], list[str]], changes: str, found: str
) -> None:
    """A misspelt key gets its spelling, a misplaced one its place."""
    assert findings_of_pool(changes) == [found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "apiVersion: gpu-lab/v2\nkind: Fleet\npools: []\nnew: 1\n",
            ':1:13: apiVersion: is "gpu-lab/v2" (this version reads gpu-lab/v1); use gpu-lab/v1',
        ),
        (
            "apiVersion: gpu-lab/v1\nkind: Float\npools: []\n",
            ":2:7: kind: is \"Float\" (must be 'Fleet')",
        ),
        (HEAD, ":1:1: pools: is missing; add pools"),
        (HEAD + "pools: []\n", ":3:8: pools: is empty (at least one)"),
        (
            HEAD + "health: {script: [{at: 5, node: a-0, device: 0, becomes: healthy}]}\n",
            ":3:24: health.script[0].at: is 5 (must be text); give it a unit, as in 5s",
        ),
        (
            HEAD + "health: {script: [{at: 5 s, node: a-0, device: 0, becomes: healthy}]}\n",
            (
                ':3:24: health.script[0].at: is "5 s" '
                "(a whole number from 1 to 999999 with a unit: ms, s, m or h, as in 30s)"
            ),
        ),
        (
            HEAD + "faults: [{call: Allocate, node: a-0, fails: ''}]\n",
            ":3:45: faults[0].fails: is empty (some text)",
        ),
        (
            HEAD + "faults: [{call: Allocated, node: a-0, fails: x}]\n",
            (
                ":3:17: faults[0].call: is \"Allocated\" (must be 'Register', "
                "'GetDevicePluginOptions', 'ListAndWatch', 'Allocate', 'GetPreferredAllocation' "
                "or 'PreStartContainer')"
            ),
        ),
    ],
)
def test_error_gives_line_and_column(
    findings_of: Callable[[str], list[str]], text: str, found: str
) -> None:
    """A finding begins with the place of the value, or of the mapping that lacks it."""
    assert found in findings_of(text)


def test_error_points_at_a_wrong_key_itself(findings_of: Callable[[str], list[str]]) -> None:
    """Of an unknown key the place is that of the key, not of its value."""
    (line,) = (each for each in findings_of(HEAD + "pools: []\nextra: 1\n") if "extra" in each)
    assert line.startswith(":4:1: extra: ")


def test_error_lists_all_findings_in_order() -> None:
    """Mistakes of syntax, shape and rules come together, ordered by line."""
    text = (
        HEAD + "pools:\n- {name: a, nodes: 0, resource: a.example.com/x, count: 1}\n"
        "- {name: b, nodes: 1, count: 1}\n"
        "- {name: c, nodes: 1, resource: a.example.com/x, count: 1, taint: }\n"
        "health: {policy: lax}\n"
    )
    with pytest.raises(FleetError) as error:
        read_text(text, "fleets/mine.yaml")
    assert error.value.exit_code is ExitCode.USAGE
    assert error.value.render() == (
        "the fleet file has 4 mistakes\n"
        "  seen:  fleets/mine.yaml:4:20: pools[0].nodes: is 0 (at least 1); use 1\n"
        "         fleets/mine.yaml:5:3: pools[1]: does not say what its devices are "
        "(exactly one of accelerator and resource); add one, "
        "such as `resource: fake.example.com/device`\n"
        "         fleets/mine.yaml:6:66: pools[2].taint: has no value; "
        "give it a value, or remove the key\n"
        "         fleets/mine.yaml:7:18: health.policy: "
        "is \"lax\" (must be 'recovers' or 'sticky')\n"
        "  next:  correct the file; docs/reference/fleet.md describes every key"
    )


def test_error_shows_the_first_of_many_findings() -> None:
    """Beyond twenty, the findings are counted and not listed."""
    error = FleetError("f", [Finding(("a", at), "is wrong") for at in range(30)])
    assert error.what == "the fleet file has 30 mistakes"
    assert error.seen.splitlines()[19:] == ["f: a[19]: is wrong", "and 10 more"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\n\x1b[31m", r'"a\n\u001b[31m"'),
        ("名" * 41, f'"{"名" * 40}…"'),
        ("\u202e", r'"\u202e"'),
        ("gpu\u3164", r'"gpu\u3164"'),
        (True, "true"),
        (1.5, "1.5"),
        ([1], "a list"),
        ({}, "a mapping"),
    ],
)
def test_shown_value_fits_on_a_line(value: object, text: str) -> None:
    """A quoted value is short, on one line, and can do nothing to a terminal."""
    assert shown(value) == text
