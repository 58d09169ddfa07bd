"""Which layouts of partitions there can be: what fits on a card, and what a plugin takes of a node.

Sums of slices are what is checked, as NVIDIA's table of profiles gives them: a 3g takes four slices
of memory and a 7g all eight. Where on the card a slice may lie is left out, so a layout that the
sums allow can still be one that a driver cannot place.

The rules of a node are the refusals of the vendors' plugins: NVIDIA/k8s-device-plugin,
internal/rm and cmd (strategy `single`), ROCm/k8s-device-plugin, cmd/k8s-device-plugin/main.go.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from fake_plugin.hardware.accelerator import Accelerator, Profile

#: The names of the partitions on each card that is cut, by the card's index.
Layout = Mapping[int, Sequence[str]]

#: What an AMD card is in when nobody has changed it.
_WHOLE_AMD: Final = "spx_nps1"
#: What slices of compute and of memory are called.
_SLICES: Final = {
    "nvidia": ("compute slices", "memory slices"),
    "amd": ("compute dies", "parts of the memory"),
    "ascend": ("AI cores", "MB of memory"),
}


def broken_card_rule(model: Accelerator, cut: Sequence[str]) -> str | None:
    """Return the rule that partitions on one card break, or None: `cut` has a name for each."""
    if not model.profiles:
        return f"{model.name} has no profiles, so it cannot be cut"
    counts = Counter(cut)
    profiles = {name: model.profile(name) for name in counts}
    if strangers := [name for name, profile in profiles.items() if profile is None]:
        known = ", ".join(each.name for each in model.profiles)
        return f"{model.name} has no profile {strangers[0]}, but {known}"
    if not cut and model.vendor != "nvidia":
        return "only a card of NVIDIA can be in partition mode without a partition: leave it out"
    taken = [(profile, counts[name]) for name, profile in profiles.items() if profile]
    if model.vendor == "amd":
        return _broken_mode(taken)
    for profile, number in taken:
        if number > profile.most:
            return f"at most {profile.most} of {profile.name} fit on a card, not {number}"
    return _broken_sum(model, taken)


def broken_node_rule(model: Accelerator, strategy: str, layout: Layout, count: int) -> str | None:
    """Return the rule that the cards of a node break together, or None.

    A card without an entry is whole. Each card's own rule is `broken_card_rule`.
    """
    if model.vendor == "ascend" and strategy != "mixed":
        return "Ascend's plugin offers each template under a name of its own: use mixed"
    if model.vendor == "amd" and strategy == "none":
        return "AMD's plugin has the strategies single and mixed"
    if strategy != "single":
        return None
    whole = [index for index in range(count) if index not in layout]
    if model.vendor == "amd":
        return _broken_single_amd(layout, whole)
    return _broken_single(layout, whole)


def _broken_mode(taken: Sequence[tuple[Profile, int]]) -> str | None:
    if len(taken) > 1:
        names = " and ".join(profile.name for profile, _ in taken)
        return f"a card is in one mode at a time, not in {names}"
    for profile, number in taken:
        if number != profile.most:
            return f"{profile.name} makes {profile.most} partitions of a card, not {number}"
    return None


def _broken_sum(model: Accelerator, taken: Sequence[tuple[Profile, int]]) -> str | None:
    compute = sum(profile.compute * number for profile, number in taken)
    memory = sum(profile.memory * number for profile, number in taken)
    compute_name, memory_name = _SLICES[model.vendor]
    if compute > model.compute_slices:
        return f"the partitions take {compute} of {model.compute_slices} {compute_name}"
    if memory > model.memory_slices:
        return f"the partitions take {memory} of {model.memory_slices} {memory_name}"
    return None


def _broken_single(layout: Layout, whole: Sequence[int]) -> str | None:
    if layout and whole:
        cards = _numbers(whole)
        return f"with single, all cards are cut or none, and {cards} would be whole"
    if empty := [index for index, cut in layout.items() if not cut]:
        return f"with single, a card that is cut needs a partition, and {_numbers(empty)} has none"
    return _several({name for cut in layout.values() for name in cut})


def _broken_single_amd(layout: Layout, whole: Sequence[int]) -> str | None:
    modes = {name for cut in layout.values() for name in cut}
    return _several(modes | {_WHOLE_AMD} if whole else modes)


def _several(names: set[str]) -> str | None:
    if len(names) <= 1:
        return None
    return f"with single, all partitions of a node are alike, not {' and '.join(sorted(names))}"


def _numbers(indices: Sequence[int]) -> str:
    first, *rest = sorted(indices)
    return f"card {first}" if not rest else f"card {first} and {len(rest)} more"
