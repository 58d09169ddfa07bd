"""What the plugin publishes in the folder of CDI specs, as cards come and go."""

import json
from pathlib import Path
from typing import Any

import pytest

from fake_plugin.cdi import rules
from fake_plugin.cdi.found import MARK
from fake_plugin.errors import NotReady, WrongUse
from fake_plugin.plan import Plan, Share, Sharing
from fake_plugin.resources.inventory import Inventory
from fake_plugin.vendors.place import BARE, Place
from tests.unit.fake_plugin.conftest import Said
from tests.unit.fake_plugin.kubelet import wait_until
from tests.unit.fake_plugin.vendors.pools import H100, MI300X, answering, cards_of, cut, pool

A, B = (card.uid for card in cards_of(pool(H100)))
FILE = "k8s.device-plugin.nvidia.com-gpu.json"
CDI = answering("cdi-cri")


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """Return a folder for specs."""
    return tmp_path / "cdi"


def start(specs: Path, *shares: Share) -> Inventory:
    """Return the inventory of a plugin that starts now."""
    state = specs.parent / "state"
    state.mkdir(exist_ok=True)
    return Inventory.load(state, "worker", Plan(shares), Place(cdi_dir=specs))


def read(specs: Path, name: str = FILE) -> dict[str, Any]:
    """Return a spec, which must break no rule."""
    document: dict[str, Any] = json.loads((specs / name).read_text(encoding="utf-8"))
    assert rules.check(document) == []
    return document


def names(specs: Path) -> list[str]:
    """Return the names of the devices in the GPUs' spec."""
    return [device["name"] for device in read(specs)["devices"]]


def test_each_device_is_published_with_its_files(specs: Path) -> None:
    """The runtime puts the node's /dev/null where the real file would be."""
    start(specs, pool(H100, answering=CDI))
    document = read(specs)
    assert document["kind"] == "k8s.device-plugin.nvidia.com/gpu"
    assert document["annotations"] == {MARK: "fake-plugin"}
    everything, first, second = document["devices"]
    assert (everything["name"], first["name"], second["name"]) == ("all", A, B)
    assert second["containerEdits"] == {
        "deviceNodes": [{"path": "/dev/nvidia1", "hostPath": "/dev/null"}]
    }
    assert document["containerEdits"]["env"] == ["NVIDIA_VISIBLE_DEVICES=void"]
    assert document["containerEdits"]["deviceNodes"][0] == {
        "path": "/dev/nvidiactl",
        "hostPath": "/dev/null",
    }


@pytest.mark.parametrize(
    ("share", "published"),
    [
        (pool(H100, answering=answering("cdi-annotations")), ["all", A, B]),
        (pool(H100, answering=answering("envvar", "cdi-cri")), ["all", A, B]),
        (pool(H100, answering=answering("cdi-cri", id_strategy="index")), ["all", "0", "1"]),
        # Hardware is published once, however many have a share of it.
        (pool(H100, answering=CDI, sharing=Sharing("time-slicing", 4)), ["all", A, B]),
        (pool(H100, answering=CDI, sharing=Sharing("percentage", 100)), ["all", A, B]),
        (
            pool(
                H100,
                answering=answering("cdi-cri", id_strategy="index"),
                partitions=cut("mixed", {0: ("3g.40gb", "3g.40gb")}),
            ),
            ["all", "0:0", "0:1", "1"],
        ),
    ],
)
def test_the_names_are_those_that_allocate_gives(
    specs: Path, share: Share, published: list[str]
) -> None:
    """A name without a spec keeps a container from starting."""
    inventory = start(specs, share)
    assert names(specs) == published
    for resource in inventory.resources:
        answer = resource.offer.answer(resource.devices[:1])
        given = [each.name for each in answer.cdi_devices]
        assert {name.partition("=")[2] for name in given} <= set(published)


def test_extras_have_specs_of_their_own(specs: Path) -> None:
    """Each is a class with one device."""
    how = answering("cdi-cri", gds=True, mofed=True, gdrcopy=True)
    start(specs, pool(H100, answering=how))
    for name in ("gdrcopy", "gds", "mofed"):
        document = read(specs, f"k8s.device-plugin.nvidia.com-{name}.json")
        assert [device["name"] for device in document["devices"]] == ["all"]


def test_two_pools_share_one_spec(specs: Path) -> None:
    """A kind is one file, and a second file of it would be a conflict."""
    other = Share("q", "q-0", 1, accelerator=H100, alias="a.b/gpu", answering=CDI)
    inventory = start(specs, pool(H100, answering=CDI), other)
    assert names(specs) == ["all", A, B, inventory.resources[1].devices[0].id]


def test_specs_follow_the_cards(specs: Path, said: Said) -> None:
    """What is unplugged is gone, also the file, and what is plugged in and added is there."""
    inventory = start(specs, pool(H100, answering=CDI))
    inventory.board.unplug([A])
    assert names(specs) == ["all", B]
    inventory.board.unplug([B])
    assert not (specs / FILE).exists()
    inventory.board.plug([A])
    inventory.board.add("p", 1)
    assert names(specs) == ["all", A, inventory.resources[0].devices[1].id]
    assert len(said("cdi-removed")) == 1


def test_a_spec_that_was_removed_comes_back(specs: Path) -> None:
    """As it was: that it is known already does not mean that it is there."""
    inventory = start(specs, pool(H100, answering=CDI))
    inventory.board.unplug([A, B])
    assert not (specs / FILE).exists()
    inventory.board.plug([A, B])
    assert names(specs) == ["all", A, B]


def test_a_flap_writes_nothing(specs: Path, said: Said) -> None:
    """Health is the kubelet's business; the names are as they were."""
    inventory = start(specs, pool(H100, answering=CDI))
    inventory.board.reset([A])
    assert len(said("cdi-written")) == 1


def test_specs_outlive_the_plugin_and_are_taken_over(specs: Path, said: Said) -> None:
    """A container that starts again keeps its names while the plugin is away."""
    start(specs, pool(H100, answering=CDI)).board.unplug([A])
    assert names(specs) == ["all", B]
    start(specs, pool(H100, answering=CDI))
    assert names(specs) == ["all", B]
    start(specs, pool(H100))
    assert list(specs.iterdir()) == []
    assert said("cdi-removed")[-1]["file"] == FILE


def test_a_strategy_without_a_folder_is_refused_at_the_start(tmp_path: Path) -> None:
    """Containers would be given names that nothing explains."""
    with pytest.raises(WrongUse, match="through CDI, and there is no folder") as caught:
        Inventory.load(tmp_path, "worker", Plan((pool(H100, answering=CDI),)), BARE)
    assert (caught.value.where, caught.value.remedy) == (
        "pool p",
        "give --cdi-dir /var/run/cdi, or use the device list strategy envvar",
    )


def test_a_folder_that_others_use_already_stops_the_start(specs: Path) -> None:
    """A device in two files is given to no container."""
    specs.mkdir()
    other = {
        "cdiVersion": "0.5.0",
        "kind": "k8s.device-plugin.nvidia.com/gpu",
        "devices": [{"name": A, "containerEdits": {"env": ["A=b"]}}],
    }
    (specs / "other.json").write_text(json.dumps(other), encoding="utf-8")
    with pytest.raises(NotReady, match="another CDI file defines the device"):
        start(specs, pool(H100, answering=CDI))


def test_a_spec_that_cannot_be_written_later_is_reported_and_tried_again(
    specs: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cards are what they are, and the kubelet is told; the spec follows when it can."""
    monkeypatch.setattr("fake_plugin.resources.inventory.PUBLISH_AGAIN_SECONDS", 0.01)
    inventory = start(specs, pool(H100, answering=CDI))
    (specs / FILE).unlink()
    (specs / FILE).mkdir()
    inventory.board.unplug([A])
    assert [device.id for device in inventory.resources[0].devices] == [B]
    (line,) = said("cdi-not-written")
    assert line["where"] == str(specs / FILE)
    (specs / FILE).rmdir()
    wait_until("a spec", (specs / FILE).is_file)
    assert names(specs) == ["all", B]
    assert len(said("cdi-not-written")) == 1


def test_other_vendors_publish_nothing(specs: Path) -> None:
    """The strategies are those of NVIDIA's plugin."""
    start(specs, pool(MI300X))
    assert not specs.exists()
