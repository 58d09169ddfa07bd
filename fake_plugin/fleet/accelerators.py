"""A model of accelerator as the fleet file spells it out, and the other way round."""

from typing import Final, get_args

from fake_plugin.files.mapping import Mapping
from fake_plugin.hardware.accelerator import Accelerator, Profile, Vendor

_KEYS: Final = (
    "name",
    "vendor",
    "product",
    "architecture",
    "memoryMiB",
    "powerWatts",
    "computeSlices",
    "memorySlices",
    "profiles",
)
_PROFILE_KEYS: Final = ("name", "most", "compute", "memory", "memoryMiB")
_VENDORS: Final[dict[str, Vendor]] = {vendor: vendor for vendor in get_args(Vendor)}


def accelerator_of(pool: Mapping) -> Accelerator:
    """Return the model that a pool spells out.

    A bare name is refused: which model it stands for is in the lab's catalogue, and not on a node.
    """
    if isinstance(pool.values["accelerator"], str):
        pool.refuse(
            "accelerator",
            "is a name of the lab's catalogue, which a node does not have: "
            "where gpulab is, `python -m lab.core.fleet.inline FILE` spells it out",
        )
    model = Mapping.of(pool.file, pool.path("accelerator"), pool.values["accelerator"])
    model.only(*_KEYS)
    profiles = model.mappings("profiles", least=0)
    names: set[str] = set()
    for profile in profiles:
        if profile.text("name") in names:
            profile.refuse("name", "is that of a profile before this one")
        names.add(profile.text("name"))
    return Accelerator(
        name=model.text("name"),
        vendor=model.choice("vendor", _VENDORS),
        product=model.text("product"),
        memory_mib=model.figure("memoryMiB"),
        power_watts=model.figure("powerWatts"),
        architecture=model.optional_text("architecture"),
        compute_slices=model.number("computeSlices", least=0, default=0),
        memory_slices=model.number("memorySlices", least=0, default=0),
        profiles=tuple(_profile(profile) for profile in profiles),
    )


def _profile(profile: Mapping) -> Profile:
    profile.only(*_PROFILE_KEYS)
    return Profile(
        profile.text("name"),
        profile.number("most", least=1),
        profile.number("compute", least=0),
        profile.number("memory", least=0),
        profile.figure("memoryMiB"),
    )


def spelled_out(model: Accelerator) -> dict[str, object]:
    """Return a model as the mapping that `accelerator_of` reads."""
    entry: dict[str, object] = {
        "name": model.name,
        "vendor": model.vendor,
        "product": model.product,
        "memoryMiB": model.memory_mib or "unknown",
        "powerWatts": model.power_watts or "unknown",
    }
    if model.architecture:
        entry["architecture"] = model.architecture
    if model.profiles or model.compute_slices or model.memory_slices:
        entry |= {"computeSlices": model.compute_slices, "memorySlices": model.memory_slices}
    if model.profiles:
        entry["profiles"] = [_spelled_profile(profile) for profile in model.profiles]
    return entry


def _spelled_profile(profile: Profile) -> dict[str, object]:
    return {
        "name": profile.name,
        "most": profile.most,
        "compute": profile.compute,
        "memory": profile.memory,
        "memoryMiB": profile.memory_mib or "unknown",
    }
