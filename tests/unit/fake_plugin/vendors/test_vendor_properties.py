"""What holds for every vendor, whatever is asked of it."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_plugin.cdi.names import broken_device_rule
from fake_plugin.errors import WrongUse
from fake_plugin.hardware.accelerator import Accelerator
from fake_plugin.plan import Answering, Plan, Share, Sharing
from fake_plugin.resources.naming import broken_rule
from fake_plugin.resources.numbering import card_at
from fake_plugin.vendors import vendor_of
from fake_plugin.vendors.offer import Refused
from tests.unit.fake_plugin.vendors.pools import (
    ASCEND,
    ASCEND_A,
    H100,
    MI300X,
    answering,
    cut,
    offers_of,
    pool,
)

MODELS = [H100, MI300X, ASCEND_A]
#: What one card of each model may be cut into.
CUTS: dict[str, list[tuple[str, ...]]] = {
    H100.name: [("1g.10gb",) * 7, ("1g.10gb+me", "2g.20gb", "3g.40gb"), ("7g.80gb",), ()],
    MI300X.name: [("cpx_nps1",) * 8, ("dpx_nps1",) * 2],
    ASCEND_A.name: [("vir02",) * 15, ("vir16", "vir02")],
}
NAMES = st.text("ab-1", min_size=1, max_size=6)


@st.composite
def pools(draw: st.DrawFn) -> Share:
    """Return a pool of any vendor: whole, cut, with replicas or with shares."""
    model = draw(st.sampled_from(MODELS))
    count = draw(st.integers(1, 5))
    sharing = draw(
        st.one_of(
            st.none(),
            st.builds(Sharing, st.just("time-slicing"), st.integers(2, 5), rename=st.booleans()),
        )
    )
    layout = draw(st.dictionaries(st.integers(0, count - 1), st.sampled_from(CUTS[model.name])))
    return pool(model, count, sharing=sharing, partitions=cut("mixed", layout))


@given(st.sets(st.tuples(NAMES, NAMES, st.integers(0, 50)), min_size=2, max_size=20))
def test_gpus_of_all_nodes_and_pools_have_ids_of_their_own(
    places: set[tuple[str, str, int]],
) -> None:
    """Dashboards put GPUs of all nodes into one table."""
    vendor = vendor_of(pool(H100))
    cards = [
        vendor.card(node, Share(name, name, 51, accelerator=H100), index, index)
        for node, name, index in places
    ]
    assert len({card.uid for card in cards}) == len({card.serial for card in cards}) == len(places)


@given(st.lists(st.tuples(st.sampled_from(MODELS), st.integers(0, 20)), min_size=1, max_size=5))
def test_cards_of_a_node_do_not_share_anything_that_names_them(
    given_pools: list[tuple[Accelerator, int]],
) -> None:
    """IDs, addresses and serials differ over all pools and vendors, also of cards added."""
    shares = tuple(
        Share(f"p{at}", f"p{at}-0", count, accelerator=model)
        for at, (model, count) in enumerate(given_pools)
    )
    plan = Plan(shares)
    cards = [card_at("w", plan, share, at) for share in shares for at in range(share.count + 5)]
    for names in (
        [card.uid for card in cards],
        [card.pci for card in cards],
        [card.serial for card in cards],
        [(card.model and card.model.vendor, card.minor) for card in cards],
    ):
        assert max(Counter(names).values()) == 1


def test_a_card_keeps_its_number_whatever_is_added_elsewhere() -> None:
    """The pools' own cards come first; what is added takes turns behind them."""
    shares = tuple(
        Share(name, f"{name}-0", count, accelerator=MI300X) for name, count in [("a", 2), ("b", 3)]
    )
    plan = Plan((shares[0], pool(H100, 4), shares[1]))
    numbers = [[card_at("w", plan, share, at).minor for at in range(5)] for share in shares]
    assert numbers == [[0, 1, 5, 7, 9], [2, 3, 4, 6, 8]]


@given(pools())
def test_no_two_offers_have_a_device_in_common(share: Share) -> None:
    """What is in two lists, the kubelet would give away twice."""
    offers = offers_of(share).values()
    units = [{device.unit for device in offer.devices} for offer in offers]
    assert sum(len(each) for each in units) == len(set().union(*units))
    ids = [device.id for offer in offers for device in offer.devices]
    assert len(ids) == len(set(ids))


@given(pools())
def test_what_is_offered_is_what_the_layout_says(share: Share) -> None:
    """Every part once, every whole card once, each as often as it has replicas, and no more."""
    layout = share.partitions.layout if share.partitions else {}
    cuts = Counter(name for parts in layout.values() for name in parts)
    devices = [device for offer in offers_of(share).values() for device in offer.devices]
    times = share.sharing.replicas if share.sharing else 1
    parts = Counter(device.partition.profile.name for device in devices if device.partition)
    assert parts == {name: number * times for name, number in cuts.items()}
    whole = {device.card.index for device in devices if not device.partition}
    assert whole == set(range(share.count)).difference(layout)


@given(pools())
def test_names_are_those_that_a_kubelet_and_a_runtime_take(share: Share) -> None:
    """A resource with a wrong name would be refused, a device with one not be found."""
    for name, offer in offers_of(share).items():
        assert broken_rule(name) is None
        for device in offer.devices:
            assert len(device.id) <= 63
            assert broken_device_rule(device.unit) is None
            assert re.fullmatch(r"[A-Za-z0-9:._-]+", device.id)


@given(pools(), st.data())
def test_an_answer_is_about_the_devices_that_were_asked_for(
    share: Share, data: st.DataObject
) -> None:
    """The lab's variables name their hardware, in order and once; files are on the node."""
    offer = data.draw(st.sampled_from([*offers_of(share).values()]))
    most = 1 if share.accelerator is ASCEND_A else 4
    if not offer.devices:
        return
    wanted = data.draw(st.lists(st.sampled_from(offer.devices), min_size=1, max_size=most))
    answer = offer.answer(wanted)
    units = answer.envs["GPULAB_VISIBLE_DEVICES"].split(",")
    assert units == list(dict.fromkeys(device.unit for device in wanted))
    assert {file.host_path for file in answer.devices} <= {"/dev/null"}
    inside = [file.container_path for file in answer.devices]
    assert len(inside) == len(set(inside))


@pytest.mark.parametrize("model", [H100, MI300X, ASCEND])
def test_pools_say_whether_containers_are_to_be_prepared(model: Accelerator) -> None:
    """PreStartContainer is asked for where the fleet wants it."""
    for wanted in (False, True):
        dialect = "hami" if model is ASCEND else "official"
        shares = Sharing("percentage", 100)
        share = pool(model, pre_start=wanted, sharing=shares, dialect=dialect)
        assert {offer.pre_start for offer in offers_of(share).values()} == {wanted}
        share = pool(model, pre_start=wanted)
        assert {offer.pre_start for offer in offers_of(share).values()} == {wanted}


@pytest.mark.parametrize("model", [H100, MI300X, ASCEND])
def test_one_replica_can_be_all_that_a_container_gets(model: Accelerator) -> None:
    """NVIDIA's plugin alone has the setting, and here all act on it alike."""
    share = pool(model, sharing=Sharing("time-slicing", 2, fail_above_one=True))
    ((name, offer),) = offers_of(share).items()
    assert offer.answer(offer.devices[:1]).envs
    with pytest.raises(Refused, match=f'request for "{name}": .* is 1; found 2$'):
        offer.answer(offer.devices[:2])


@pytest.mark.parametrize("model", [MI300X, ASCEND])
@pytest.mark.parametrize(
    "how", [answering("cdi-cri"), answering(id_strategy="index"), answering(gds=True)]
)
def test_strategies_of_nvidias_plugin_are_refused_elsewhere(
    model: Accelerator, how: Answering
) -> None:
    """A setting that nobody acts on would be a lie; the policy of replicas is all vendors'."""
    with pytest.raises(WrongUse, match="settings of NVIDIA's plugin") as caught:
        offers_of(pool(model, answering=how))
    assert caught.value.where == "pool p"
    packed = pool(model, answering=answering(replica_policy="packed"))
    assert {offer.spread for offer in offers_of(packed).values()} == {"packed"}
