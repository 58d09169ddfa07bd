"""Cards to read, with figures that public outputs of the real tools have."""

from dataclasses import replace

from fake_plugin.hardware.accelerator import Accelerator, Profile
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.card import Card, Partition
from fake_plugin.hardware.reading import Reading

THIRD = Profile("3g.40gb", most=2, compute=3, memory=4, memory_mib=40448)
SEVENTH = Profile("1g.10gb", most=7, compute=1, memory=1, memory_mib=9984)
H100 = Accelerator(
    name="nvidia-h100-sxm-80gb",
    vendor="nvidia",
    product="NVIDIA H100 80GB HBM3",
    memory_mib=81559,
    power_watts=700,
    architecture="hopper",
    compute_slices=7,
    memory_slices=8,
    profiles=(THIRD, SEVENTH),
)
CPX = Profile("cpx_nps4", most=8, compute=1, memory=1, memory_mib=24576)
MI300X = Accelerator(
    name="amd-mi300x-192gb",
    vendor="amd",
    product="AMD Instinct MI300X",
    memory_mib=196592,
    power_watts=750,
    architecture="gfx942",
    compute_slices=8,
    memory_slices=8,
    profiles=(CPX,),
)
ASCEND = Accelerator(
    name="ascend-910b3-64gb",
    vendor="ascend",
    product="Ascend 910B3",
    memory_mib=65536,
    architecture="910B3",
)
_IDS = {"nvidia": "GPU-{:08d}-0000-4000-8000-000000000000", "amd": "{}", "ascend": "Ascend910-{}"}


def card_of(model: Accelerator, minor: int) -> Card:
    """Return the `minor`-th card of its vendor."""
    pci = f"0000:{0x19 + minor:02x}:00.0"
    return Card(
        uid=_IDS[model.vendor].format(pci if model.vendor == "amd" else minor),
        pool="pool",
        index=minor,
        minor=minor,
        model=model,
        pci=pci,
        serial=f"165{minor:04d}",
    )


def whole(model: Accelerator, minor: int = 0, breakage: Breakage | None = None) -> Reading:
    """Return a reading of a whole card that is hard at work."""
    return Reading(
        card=card_of(model, minor),
        partition=None,
        healthy=breakage is None,
        breakage=breakage,
        holders=(),
        utilization=1.0,
        memory_used_mib=26980,
        memory_total_mib=model.memory_mib,
        power_watts=362.48,
        energy_joules=None,
        temperature_celsius=41,
        memory_temperature_celsius=47,
    )


def parts(model: Accelerator, minor: int, *profiles: Profile) -> list[Reading]:
    """Return readings of a card that is cut by these profiles, in their order."""
    card = card_of(model, minor)
    return [
        replace(
            whole(model, minor),
            partition=Partition(part_of(card, index), card, index, profile),
            memory_used_mib=44,
            memory_total_mib=profile.memory_mib,
        )
        for index, profile in enumerate(profiles)
    ]


def part_of(card: Card, index: int) -> str:
    """Return the name of the `index`-th part of a card."""
    if card.model and card.model.vendor == "nvidia":
        return f"MIG-{card.minor:08d}-{index:04d}-5000-8000-000000000000"
    return f"{card.uid}-part-{index}"


def unknown(reading: Reading) -> Reading:
    """Return the reading of a card of which no figure is known."""
    card = reading.card
    model = replace(card.model, memory_mib=None, power_watts=None) if card.model else None
    return replace(
        reading,
        card=replace(card, model=model, serial=""),
        memory_used_mib=None,
        memory_total_mib=None,
        power_watts=None,
        temperature_celsius=None,
        memory_temperature_celsius=None,
    )


def broken(reading: Reading, kind: str, code: str = "") -> Reading:
    """Return the reading of a broken card or part."""
    kinds: dict[str, Breakage] = {
        "xid": Breakage("xid", code),
        "ecc": Breakage("ecc", code),
        "fault-code": Breakage("fault-code", code),
        "unspecified": Breakage(),
    }
    return replace(reading, healthy=False, breakage=kinds[kind])


def names(*readings: Reading) -> str:
    """Return the value of the variable that Allocate sets."""
    return ",".join(reading.unit for reading in readings)
