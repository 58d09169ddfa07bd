"""The rules of a node, told in a line and written as the plugin has them."""

import json

import pytest

from fake_plugin.faults.fault import Call, Delay, Drop, Effect, Fail, Fault, Hang, Wrong
from lab.cluster.plugin.api import written
from lab.cluster.plugin.node_plugin import NodePlugin
from lab.cluster.plugin.rules import Rule, Rules
from tests.unit.stand_ins.api_server import GPU
from tests.unit.stand_ins.plugin import Plugin


@pytest.mark.parametrize(
    ("call", "effect", "limits", "told"),
    [
        ("Register", Fail("no"), (None, None, None), "Register is refused by the kubelet, every"),
        ("Allocate", Fail("no"), (None, None, None), "Allocate fails: no (UNKNOWN), every time"),
        ("Allocate", Delay(0.5), (None, None, 3), "Allocate is late by 500ms, the first 3 times"),
        ("Allocate", Hang(), (GPU, 2, None), f"Allocate of {GPU} hangs, call 2"),
        ("Allocate", Hang(), (None, 2, 1), "Allocate hangs, call 2"),
        ("Allocate", Wrong("empty"), (None, 2, 3), "is answered wrongly: empty, calls 2 to 4"),
        ("ListAndWatch", Drop(0.0), (None, None, None), "ListAndWatch is dropped after 0s, every"),
    ],
)
def test_a_rule_is_told_in_a_line(
    call: Call, effect: Effect, limits: tuple[str | None, int | None, int | None], told: str
) -> None:
    """What befalls which calls."""
    line = str(Rule(Fault("rule-7", call, effect, *limits)))
    assert line.startswith("rule-7: ")
    assert told in line


@pytest.mark.parametrize(
    "effect", [Fail("no", "ABORTED"), Delay(1.5), Hang(), Wrong("too-few"), Drop(0.0)]
)
@pytest.mark.parametrize("limits", [(None, None, None), (GPU, 2, 3)])
def test_a_rule_is_read_and_written_as_it_is(
    node_plugin: NodePlugin,
    plugin: Plugin,
    effect: Effect,
    limits: tuple[str | None, int | None, int | None],
) -> None:
    """Whatever its effect: the value is the plugin's own, and the text for tools is too."""
    book = plugin.node.switchboard.book
    made = book.add("ListAndWatch", effect, *limits)
    (rule,) = node_plugin.faults()
    assert rule.fault == made
    assert written(Rules((rule,))) == json.loads(plugin.ask("GET", "/v1/faults"))
