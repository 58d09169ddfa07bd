"""How NVIDIA's driver numbers the MIG devices of a card."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_plugin.hardware.accelerator import Profile
from fake_plugin.hardware.gpu_instances import gpu_instance_ids
from tests.unit.fake_plugin.smi.hardware import H100, MI300X, parts, whole


def cut(*memory: int) -> list[Profile]:
    """Return profiles that take so many slices of the memory."""
    return [Profile(f"{slices}-slices", 7, 1, slices) for slices in memory]


@pytest.mark.parametrize(
    ("memory", "numbers"),
    [([8], [0]), ([4, 4], [1, 2]), ([4, 1, 1], [1, 7, 8]), ([2, 2, 1, 2], [3, 4, 7, 5])],
)
def test_numbers_are_by_size(memory: list[int], numbers: list[int]) -> None:
    """Each size has a range of its own, as the driver shows it."""
    assert [*gpu_instance_ids(parts(H100, 0, *cut(*memory))).values()] == numbers


def test_numbers_do_not_depend_on_the_order_of_the_readings() -> None:
    """A node lists its devices by resource, and a card in the order in which it was cut."""
    units = parts(H100, 0, *cut(2, 1, 2))
    assert gpu_instance_ids(reversed(units)) == gpu_instance_ids(units)


def test_each_card_counts_for_itself() -> None:
    """The number of a GPU goes before it wherever one is shown."""
    units = [*parts(H100, 0, *cut(4)), *parts(H100, 1, *cut(4))]
    assert [*gpu_instance_ids(units).values()] == [1, 1]


def test_whole_cards_and_other_vendors_have_none() -> None:
    """AMD's partitions and Ascend's vNPUs have numbers of other kinds."""
    assert gpu_instance_ids([whole(H100), *parts(MI300X, 0, *cut(1, 1))]) == {}


@given(memory=st.lists(st.integers(0, 20), max_size=20))
def test_no_two_on_a_card_have_one_number(memory: list[int]) -> None:
    """Nor would Prometheus take two samples that nothing tells apart, whatever a model says."""
    found = gpu_instance_ids(parts(H100, 0, *cut(*memory)))
    assert len({*found.values()}) == len(memory)
