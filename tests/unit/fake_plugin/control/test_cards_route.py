"""Cards that come and go over the API."""

from typing import Any

import pytest

from fake_plugin.control.node import Node
from fake_plugin.resources import list_size
from tests.unit.fake_plugin.control.conftest import Call, broken


def counts(node: Node) -> list[int]:
    """Return how many devices each resource has."""
    return [len(resource.devices) for resource in node.inventory.resources]


def test_a_card_is_taken_out_and_put_back(call: Call, node: Node) -> None:
    """It is the same one then, as broken as it was."""
    before = node.inventory.resources[0].devices
    call("POST", "/v1/health", {"cards": ["nvidia/1"], "becomes": "unhealthy"})
    told = call("POST", "/v1/cards", {"unplug": ["nvidia/1"]})
    assert (told.status, told.body) == (200, {"count": 1, "cards": [before[1].card.uid]})
    assert counts(node) == [2, 2]
    assert call("POST", "/v1/cards", {"plug": ["nvidia/1"]}).status == 200
    assert node.inventory.resources[0].devices == before
    assert broken(node) == {"nvidia/1": "unspecified"}


def test_an_unplugged_card_has_its_uid_for_a_name(call: Call, node: Node) -> None:
    """As GET /v1/node lists it."""
    call("POST", "/v1/cards", {"unplug": ["nvidia/0", "plain/0"]})
    (first, second) = call("GET", "/v1/node").body["unplugged"]
    assert (first["pool"], first["index"], second["pool"]) == ("nvidia", 0, "plain")
    assert call("POST", "/v1/cards", {"plug": [first["card"], "plain/0"]}).body["count"] == 2
    assert counts(node) == [3, 2]


def test_cards_are_added(call: Call, node: Node) -> None:
    """They come after the ones that are there, which stay."""
    before = node.inventory.resources[1].devices
    told = call("POST", "/v1/cards", {"add": {"pool": "plain", "count": 2}})
    assert (told.status, told.body) == (200, {"count": 2, "pool": "plain"})
    assert node.inventory.resources[1].devices[:2] == before
    assert counts(node) == [3, 4]


@pytest.mark.parametrize(
    ("body", "status", "what"),
    [
        ({"unplug": ["nvidia/3"]}, 404, "this node has no card 'nvidia/3'"),
        ({"unplug": ["nvidia/0", "nvidia/3"]}, 404, "this node has no card 'nvidia/3'"),
        ({"plug": ["nvidia/0"]}, 404, "this node has no unplugged card 'nvidia/0'"),
        ({"unplug": []}, 400, "unplug must name something"),
        ({"unplug": ["nvidia/0"], "plug": ["nvidia/0"]}, 400, "the body needs exactly one"),
        ({"add": {"pool": "amd", "count": 1}}, 404, "this node has no pool 'amd'"),
        ({"add": {"pool": "plain", "count": 0}}, 400, "add.count must be a whole number from 1"),
        ({"add": {"pool": "plain", "count": 100_000}}, 409, "are too many for one list"),
        ({"add": {"pool": "plain"}}, 400, "add.count is missing"),
        ({"add": {"pool": "plain", "count": 1, "numa": 0}}, 400, "add.numa is not something"),
        ({"add": 2}, 400, "add must be a mapping"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_changes(
    call: Call, node: Node, body: dict[str, Any], status: int, what: str
) -> None:
    """Of several cards none goes where one is not known."""
    told = call("POST", "/v1/cards", body)
    assert (told.status, what in told.what) == (status, True)
    assert counts(node) == [3, 2]


def test_cards_that_were_added_count_against_the_limit(
    call: Call, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list that the kubelet takes is the limit, however the cards came."""
    monkeypatch.setattr(list_size, "MESSAGE_LIMIT", 560)
    assert call("POST", "/v1/cards", {"add": {"pool": "plain", "count": 7}}).status == 200
    told = call("POST", "/v1/cards", {"add": {"pool": "plain", "count": 2}})
    assert (told.status, counts(node)) == (409, [3, 9])
