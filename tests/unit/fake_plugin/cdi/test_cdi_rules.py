"""Which specs are refused, under which rule, and what is said."""

import copy
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fake_plugin.cdi.rules import VERSIONS, check, needed_version
from fake_plugin.cdi.shape import Violation
from fake_plugin.cdi.spec import Spec
from tests.unit.fake_plugin.cdi.drawn import specs
from tests.unit.fake_plugin.cdi.verdicts import (
    REFUSED,
    STRICTER,
    TAKEN,
    Document,
    Stricter,
    device,
    edits,
    hook,
    node,
    spec,
)

NODE = "devices[0].containerEdits.deviceNodes[0]"

Mutation = Callable[[Document, Document, Document], object]


@pytest.mark.parametrize("document", TAKEN.values(), ids=TAKEN)
def test_what_runtimes_take_breaks_no_rule(document: Document) -> None:
    """A spec that both releases of the Go library take is right to us."""
    assert check(document) == []


@pytest.mark.parametrize(("document", "rule"), REFUSED.values(), ids=REFUSED)
def test_what_runtimes_refuse_breaks_one_rule(document: object, rule: str) -> None:
    """A spec that both releases refuse breaks the rule that is named, and no other."""
    assert [violation.rule for violation in check(document)] == [rule]


@pytest.mark.parametrize("case", STRICTER.values(), ids=STRICTER)
def test_what_one_runtime_may_refuse_breaks_a_rule(case: Stricter) -> None:
    """A spec that releases differ on, or that CDI's text forbids, is refused."""
    assert [violation.rule for violation in check(case.document)] == [case.rule]


@pytest.mark.parametrize(
    ("document", "path", "what"),
    [
        (None, "", "None must be a mapping"),
        (
            spec("1.2.0"),
            "cdiVersion",
            f"'1.2.0' must be one of {', '.join(VERSIONS)}",
        ),
        (
            node("0.3.0", hostPath="/dev/null"),
            "cdiVersion",
            f"'0.3.0' must be at least 0.5.0, which {NODE}.hostPath needs",
        ),
        (
            spec("0.1.0"),
            "cdiVersion",
            "'0.1.0' must be at least 0.3.0, the lowest that runtimes take",
        ),
        (
            spec(kind="gpu"),
            "kind",
            "'gpu' must be a vendor and a class with a slash between, as nvidia.com/gpu",
        ),
        (
            spec(kind="nvidia.com/x"),
            "kind",
            "'nvidia.com/x' must have a class of two characters or more: letters, digits",
        ),
        (edits(), "devices[0].containerEdits", "a device must change something in its container"),
        (spec(devices=[]), "devices", "must have a device"),
        (
            spec(devices=[device("a"), device("a")]),
            "devices",
            "the name 'a' is there 2 times",
        ),
        (
            node(typ="c"),
            f"{NODE}.typ",
            "is none of path, hostPath, type, major, minor, fileMode, permissions, uid, gid",
        ),
        (node(uid=-1), f"{NODE}.uid", "-1 must be from 0 to"),
        (edits(env=["A"]), "devices[0].containerEdits.env[0]", "'A' must have the form NAME=value"),
        (
            spec(annotations={"a b": ""}),
            "annotations.a b",
            "'a b' must have a name of 1 to 63 letters",
        ),
    ],
)
def test_a_violation_says_where_and_what(document: object, path: str, what: str) -> None:
    """The text holds the path, what was seen and the rule."""
    (violation,) = check(document)
    assert violation.path == path
    assert violation.what.startswith(what)


@pytest.mark.parametrize(("end", "rules"), [("a", []), ("aa", ["annotation-key"])])
def test_the_prefix_of_a_key_has_253_characters_at_most(end: str, rules: list[str]) -> None:
    """One more is refused, though each of its parts is short."""
    found = check(spec(annotations={f"{'a.' * 126}{end}/b": ""}))
    assert [violation.rule for violation in found] == rules


@pytest.mark.parametrize(("more", "rules"), [("", []), ("c", ["annotations-size"])])
def test_annotations_have_256_kib_at_most(more: str, rules: list[str]) -> None:
    """Of keys and values together, in bytes and not in characters."""
    notes = {"a": "é" * (2**17 - 2), "b": f"cc{more}"}
    assert [violation.rule for violation in check(spec(annotations=notes))] == rules


@pytest.mark.parametrize(
    ("document", "rules"),
    [
        (node(major=2**63 - 1), []),
        (node(minor=2**63), ["range"]),
        (hook(timeout=1), []),
        (hook(timeout=2**63 - 1), []),
        (hook(timeout=2**63), ["range"]),
        (edits(additionalGids=[2**32 - 1]), []),
        (edits(additionalGids=[2**32]), ["range"]),
    ],
)
def test_numbers_have_bounds(document: Document, rules: list[str]) -> None:
    """Those of the types that the Go library reads them into; the bound itself is taken."""
    assert [violation.rule for violation in check(document)] == rules


@pytest.mark.parametrize(("name", "least"), [("0a", "0.5.0"), ("00", "0.5.0"), ("a0", "0.3.0")])
def test_the_first_character_of_a_name_needs_a_version(name: str, least: str) -> None:
    """A digit came with 0.5.0, whatever follows it."""
    assert needed_version(spec(devices=[device(name)])) == least


def test_versions_begin_with_the_first_of_cdi() -> None:
    """None was called 0.0.0: it is not too low, it is unknown."""
    assert VERSIONS[0] == "0.1.0"
    assert [violation.rule for violation in check(spec("0.0.0"))] == ["version-unknown"]


def test_a_violation_is_one_line_of_text() -> None:
    """The path comes first, and the name of the rule last."""
    assert str(Violation("kind", "kind", "must be x")) == "kind: must be x [kind]"
    assert str(Violation("type", "", "must be x")) == "the spec: must be x [type]"


def test_every_violation_is_found() -> None:
    """One mistake does not hide another."""
    document = spec(
        "0.9.0",
        kind="gpu",
        name="x",
        devices=[device("-", containerEdits={"env": ["A"], "mounts": [{"hostPath": ""}]})],
    )
    assert [violation.rule for violation in check(document)] == [
        "version-unknown",
        "kind",
        "device-name",
        "env-form",
        "empty",
        "missing-field",
        "unknown-field",
    ]


def test_a_long_value_is_cut() -> None:
    """An error stays readable, whatever was in the file."""
    (violation,) = check(node(permissions="x" * 1000))
    assert len(violation.what) < 120
    assert "…" in violation.what


@pytest.mark.parametrize(
    "document",
    [
        spec(devices=[device("\ud800")]),
        edits(env=["A=\udcff"]),
        spec(annotations={"\udcff": ""}),
    ],
)
def test_text_that_no_file_can_hold_is_refused(document: Document) -> None:
    """Half a surrogate pair, as a path in another encoding leads to, is not written."""
    assert [violation.rule for violation in check(document)] == ["type"]


@pytest.mark.parametrize("key", [1, None, ("a",)])
def test_a_key_that_is_no_text_is_unknown(key: object) -> None:
    """YAML has mappings with such keys."""
    assert check({key: 1})[0] == Violation(
        "unknown-field",
        str(key),
        "is none of cdiVersion, kind, annotations, devices, containerEdits",
    )


#: What is done to a spec, its last device and that device's edits; the rule that it then breaks.
MUTATIONS: dict[str, tuple[str, Mutation]] = {
    "a field more": ("unknown-field", lambda spec, *_: spec.update(spec=1)),
    "a device's field more": ("unknown-field", lambda _, device, __: device.update(kind="a")),
    "an edit more": ("unknown-field", lambda _, __, edits: edits.update(device=[])),
    "no version": ("missing-field", lambda spec, *_: spec.pop("cdiVersion")),
    "no kind": ("missing-field", lambda spec, *_: spec.pop("kind")),
    "no list of devices": ("missing-field", lambda spec, *_: spec.pop("devices")),
    "no name": ("missing-field", lambda _, device, __: device.pop("name")),
    "no edits": ("missing-field", lambda _, device, __: device.pop("containerEdits")),
    "another version": ("version-unknown", lambda spec, *_: spec.update(cdiVersion="0.9.0")),
    "an old version": ("version-too-low", lambda spec, *_: spec.update(cdiVersion="0.2.0")),
    "a kind without class": ("kind", lambda spec, *_: spec.update(kind="nvidia.com")),
    "a name with a slash": ("device-name", lambda _, device, __: device.update(name="a/b")),
    "no devices": ("no-devices", lambda spec, *_: spec.update(devices=[])),
    "a device twice": (
        "duplicate-device",
        lambda spec, device, _: spec.update(devices=[device, device]),
    ),
    "nothing to edit": ("empty-edits", lambda _, __, edits: edits.clear()),
    "a name alone": ("env-form", lambda _, __, edits: edits.update(env=["A"])),
    "edits in a list": ("type", lambda _, device, __: device.update(containerEdits=[])),
    "a node of no type": (
        "node-type",
        lambda _, __, edits: edits.update(deviceNodes=[{"path": "/a", "type": "x"}]),
    ),
    "a node to execute": (
        "node-permissions",
        lambda _, __, edits: edits.update(deviceNodes=[{"path": "/a", "permissions": "x"}]),
    ),
    "a node of no path": (
        "empty",
        lambda _, __, edits: edits.update(deviceNodes=[{"path": ""}]),
    ),
    "a negative user": (
        "range",
        lambda _, __, edits: edits.update(deviceNodes=[{"path": "/a", "uid": -1}]),
    ),
    "half a mount": (
        "missing-field",
        lambda _, __, edits: edits.update(mounts=[{"hostPath": "/a"}]),
    ),
    "a hook of no name": (
        "hook-name",
        lambda _, __, edits: edits.update(hooks=[{"hookName": "start", "path": "/a"}]),
    ),
    "a class above": ("rdt-class", lambda _, __, edits: edits.update(intelRdt={"closID": ".."})),
    "one interface twice": (
        "duplicate-net-device",
        lambda _, __, edits: edits.update(netDevices=[{"hostInterfaceName": "a", "name": "b"}] * 2),
    ),
    "an annotation of no name": (
        "annotation-key",
        lambda _, device, __: device.update(annotations={"": "x"}),
    ),
    "a large annotation": (
        "annotations-size",
        lambda spec, *_: spec.update(annotations={"a": "b" * 300_000}),
    ),
}


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(drawn=specs, mutation=st.sampled_from(sorted(MUTATIONS)))
def test_a_single_mutation_is_refused(drawn: Spec, mutation: str) -> None:
    """Whatever else is in a spec, one thing that is made wrong is found by its rule."""
    document = copy.deepcopy(drawn.document())
    devices = document["devices"]
    assert isinstance(devices, list)
    rule, mutate = MUTATIONS[mutation]
    mutate(document, devices[-1], devices[-1]["containerEdits"])
    assert rule in {violation.rule for violation in check(document)}


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(drawn=specs, version=st.sampled_from(VERSIONS))
def test_every_version_from_the_needed_one_on_is_taken(drawn: Spec, version: str) -> None:
    """The written version is the lowest that is right, and each higher one is right too."""
    document = drawn.document()
    needed = str(document["cdiVersion"])
    rules = [violation.rule for violation in check({**document, "cdiVersion": version})]
    is_enough = VERSIONS.index(version) >= VERSIONS.index(needed)
    assert rules == ([] if is_enough else ["version-too-low"])
