"""Which layouts of partitions fit on a card, and which a vendor's plugin takes of a node."""

from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fake_plugin.hardware.accelerator import Accelerator, Profile
from fake_plugin.hardware.partition_rules import broken_card_rule, broken_node_rule

H100 = Accelerator(
    "h100",
    "nvidia",
    "NVIDIA H100 80GB HBM3",
    compute_slices=7,
    memory_slices=8,
    profiles=(
        Profile("1g.10gb", 7, 1, 1),
        Profile("1g.10gb+me", 1, 1, 1),
        Profile("1g.20gb", 4, 1, 2),
        Profile("2g.20gb", 3, 2, 2),
        Profile("3g.40gb", 2, 3, 4),
        Profile("4g.40gb", 1, 4, 4),
        Profile("7g.80gb", 1, 7, 8),
    ),
)
MI300X = Accelerator(
    "mi300x",
    "amd",
    "AMD Instinct MI300X",
    compute_slices=8,
    memory_slices=8,
    profiles=(Profile("spx_nps1", 1, 8, 8), Profile("cpx_nps4", 8, 1, 1)),
)
B3 = Accelerator(
    "910b3",
    "ascend",
    "910B3",
    compute_slices=20,
    memory_slices=65536,
    profiles=(Profile("vir05_1c_16g", 4, 5, 16384), Profile("vir10_3c_32g", 2, 10, 32768)),
)
T4 = Accelerator("t4", "nvidia", "Tesla T4")


def names(**counts: int) -> list[str]:
    """Return the names of partitions, by `g2` for 2g.20gb and the like."""
    short = {profile.name[1] + profile.name[0]: profile.name for profile in H100.profiles}
    short |= {"me": "1g.10gb+me", "g1": "1g.10gb", "double": "1g.20gb"}
    return [short[name] for name, number in counts.items() for _ in range(number)]


@pytest.mark.parametrize(
    "cut",
    [
        [],
        names(g1=7),
        names(g3=2),
        names(g1=2, g2=1, g3=1),
        names(g4=1, g3=1),
        names(double=4),
        names(me=1, g1=6),
        names(g7=1),
    ],
    ids=len,
)
def test_a_layout_within_the_slices_fits(cut: list[str]) -> None:
    """Seven slices of compute and eight of memory, in the profiles of the table."""
    assert broken_card_rule(H100, cut) is None


@pytest.mark.parametrize(
    ("cut", "rule"),
    [
        (names(g1=8), "at most 7 of 1g.10gb fit on a card, not 8"),
        (names(me=2), "at most 1 of 1g.10gb+me fit on a card, not 2"),
        (names(g4=2), "at most 1 of 4g.40gb fit on a card, not 2"),
        (names(g7=1, g1=1), "the partitions take 8 of 7 compute slices"),
        (names(g4=1, g3=1, g1=1), "the partitions take 8 of 7 compute slices"),
        (names(g3=2, g1=1), "the partitions take 9 of 8 memory slices"),
        (names(double=4, g1=1), "the partitions take 9 of 8 memory slices"),
        (
            ["1g.5gb"],
            (
                "h100 has no profile 1g.5gb, but 1g.10gb, 1g.10gb+me, 1g.20gb, 2g.20gb, 3g.40gb, "
                "4g.40gb, 7g.80gb"
            ),
        ),
    ],
)
def test_a_layout_beyond_the_slices_is_refused(cut: list[str], rule: str) -> None:
    """A 3g takes four slices of memory, so that two of them leave none for a 1g."""
    assert broken_card_rule(H100, cut) == rule


def test_a_card_without_profiles_is_not_cut() -> None:
    """A T4 has no MIG, not even without a partition."""
    assert broken_card_rule(T4, []) == "t4 has no profiles, so it cannot be cut"


@pytest.mark.parametrize(
    ("model", "cut", "rule"),
    [
        (MI300X, ["cpx_nps4"] * 8, None),
        (MI300X, ["spx_nps1"], None),
        (MI300X, ["cpx_nps4"] * 7, "cpx_nps4 makes 8 partitions of a card, not 7"),
        (
            MI300X,
            ["cpx_nps4"] * 8 + ["spx_nps1"],
            "a card is in one mode at a time, not in cpx_nps4 and spx_nps1",
        ),
        (
            MI300X,
            [],
            "only a card of NVIDIA can be in partition mode without a partition: leave it out",
        ),
        (B3, ["vir05_1c_16g"] * 4, None),
        (B3, ["vir10_3c_32g"] + ["vir05_1c_16g"] * 2, None),
        (B3, ["vir05_1c_16g"] * 5, "at most 4 of vir05_1c_16g fit on a card, not 5"),
        (
            B3,
            ["vir10_3c_32g"] * 2 + ["vir05_1c_16g"],
            "the partitions take 25 of 20 AI cores",
        ),
    ],
)
def test_cards_of_amd_and_ascend(model: Accelerator, cut: list[str], rule: str | None) -> None:
    """AMD's are in one mode with all of its partitions, Ascend's have cores and memory."""
    assert broken_card_rule(model, cut) == rule


ONE, OTHER = ("1g.10gb",) * 7, ("3g.40gb",) * 2
CPX = ("cpx_nps4",) * 8


@pytest.mark.parametrize(
    ("model", "strategy", "layout", "rule"),
    [
        (H100, "none", {0: ONE, 1: ()}, None),
        (H100, "mixed", {0: ONE, 1: ()}, None),
        (H100, "single", {}, None),
        (H100, "single", {0: ONE, 1: ("1g.10gb",)}, None),
        (
            H100,
            "single",
            {0: ONE},
            "with single, all cards are cut or none, and card 1 would be whole",
        ),
        (
            H100,
            "single",
            {0: ONE, 1: ()},
            "with single, a card that is cut needs a partition, and card 1 has none",
        ),
        (
            H100,
            "single",
            {0: ONE, 1: OTHER},
            "with single, all partitions of a node are alike, not 1g.10gb and 3g.40gb",
        ),
        (MI300X, "single", {0: CPX, 1: CPX}, None),
        (MI300X, "single", {0: ("spx_nps1",)}, None),
        (
            MI300X,
            "single",
            {0: CPX},
            "with single, all partitions of a node are alike, not cpx_nps4 and spx_nps1",
        ),
        (MI300X, "mixed", {0: CPX}, None),
        (MI300X, "none", {0: CPX}, "AMD's plugin has the strategies single and mixed"),
        (B3, "mixed", {0: ("vir05_1c_16g",)}, None),
        (
            B3,
            "single",
            {},
            "Ascend's plugin offers each template under a name of its own: use mixed",
        ),
    ],
)
def test_what_a_plugin_takes_of_a_node_of_two_cards(
    model: Accelerator, strategy: str, layout: dict[int, tuple[str, ...]], rule: str | None
) -> None:
    """The refusals are those with which the vendors' plugins would not start."""
    assert broken_node_rule(model, strategy, layout, 2) == rule


def test_many_cards_are_counted() -> None:
    """A node of a thousand cards does not make an error of a thousand numbers."""
    rule = broken_node_rule(H100, "single", {0: ONE}, 1000)
    assert rule
    assert rule.endswith("card 1 and 998 more would be whole")


PROFILES = st.lists(st.sampled_from([profile.name for profile in H100.profiles]), max_size=9)


@given(PROFILES)
def test_an_accepted_layout_never_exceeds_the_card(cut: list[str]) -> None:
    """Neither the slices of compute, nor those of memory, nor the most of any profile."""
    assume(broken_card_rule(H100, cut) is None)
    profiles = [profile for name in cut if (profile := H100.profile(name))]
    assert sum(profile.compute for profile in profiles) <= H100.compute_slices
    assert sum(profile.memory for profile in profiles) <= H100.memory_slices
    assert all(number <= profile.most for profile, number in Counter(profiles).items())


@given(PROFILES, st.data())
def test_a_layout_stays_accepted_with_less_on_it(cut: list[str], data: st.DataObject) -> None:
    """Taking a partition away, or changing their order, breaks no rule."""
    assume(cut and broken_card_rule(H100, cut) is None)
    order = data.draw(st.permutations(cut))
    assert broken_card_rule(H100, order) is None
    assert broken_card_rule(H100, order[1:]) is None


@given(PROFILES)
def test_a_layout_within_all_sums_is_accepted(cut: list[str]) -> None:
    """No rule is hidden: what the sums and the most of each profile allow, is allowed."""
    profiles = [profile for name in cut if (profile := H100.profile(name))]
    within = (
        sum(profile.compute for profile in profiles) <= H100.compute_slices
        and sum(profile.memory for profile in profiles) <= H100.memory_slices
        and all(number <= profile.most for profile, number in Counter(profiles).items())
    )
    assert (broken_card_rule(H100, cut) is None) == within
