"""Every model of the catalogue can be offered, whole, shared and cut up in every way it knows."""

from dataclasses import replace

import pytest

from fake_plugin.cdi.names import broken_device_rule
from fake_plugin.hardware.accelerator import Accelerator
from fake_plugin.plan import Dialect, Partitions, Share, Sharing
from fake_plugin.resources.naming import broken_rule
from lab.core.catalogue import catalogue
from tests.unit.fake_plugin.vendors.pools import cut, offers_of, pool

MODELS = [model for each in catalogue().values() if (model := each.accelerator())]
PERCENT = Sharing("percentage", 100)


def layouts(model: Accelerator) -> list[Partitions]:
    """Return a layout for each profile: as often as it fits on a card."""
    return [cut("mixed", {0: (each.name,) * each.most}) for each in model.profiles]


def devices(share: Share) -> dict[str, int]:
    """Return how many devices each resource has; names must be such as a kubelet takes."""
    found = offers_of(share)
    for name, offer in found.items():
        assert broken_rule(name) is None
        assert not any(broken_device_rule(device.unit) for device in offer.devices)
    return {name: len(offer.devices) for name, offer in found.items()}


def test_there_are_models_of_all_three_vendors() -> None:
    """The tests below would pass for want of models."""
    assert {model.vendor for model in MODELS} == {"nvidia", "amd", "ascend"}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_model_is_offered_whole_and_in_replicas(model: Accelerator) -> None:
    """Each card is one device, or as many as there are replicas."""
    assert list(devices(pool(model, 2)).values()) == [2]
    assert list(devices(pool(model, 2, sharing=Sharing("time-slicing", 3))).values()) == [6]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_profile_of_a_model_is_a_resource(model: Accelerator) -> None:
    """As many devices as the profile says fit on a card."""
    for layout, profile in zip(layouts(model), model.profiles, strict=True):
        (number,) = devices(pool(model, 1, partitions=layout)).values()
        assert number == profile.most


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_model_is_shared_out_where_its_memory_is_known(model: Accelerator) -> None:
    """Cores are 100 to a card, memory is whole units of what the card has.

    Ascend's own plugin shares no cards; HAMi does.
    """
    known = model if model.memory_mib else replace(model, memory_mib=4096)
    dialect: Dialect = "hami" if model.vendor == "ascend" else "official"
    # HAMi offers the whole card first.
    *_, cores, memory = devices(pool(known, 1, sharing=PERCENT, dialect=dialect)).values()
    assert (cores, memory) == (100, (known.memory_mib or 0) // 1024)


@pytest.mark.parametrize(
    "model", [model for model in MODELS if model.vendor == "ascend"], ids=lambda model: model.name
)
def test_a_model_of_ascend_has_a_name_in_both_dialects(model: Accelerator) -> None:
    """HAMi's names end in those of its shares."""
    whole, cores, memory = devices(pool(model, 1, dialect="hami"))
    assert (cores, memory) == (f"{whole}-core", f"{whole}-memory")
