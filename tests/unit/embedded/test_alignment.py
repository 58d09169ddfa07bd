"""Where devices lie, in numbers of NUMA nodes: masks, hints, and what a choice means for them.

Source: devicemanager/topology_hints.go.
"""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.embedded.kubelet.alignment import hints, nodes_to_try, split
from lab.embedded.kubelet.device import Device
from lab.embedded.kubelet.numa import Mask, masks


def near(name: str, *nodes: int) -> Device:
    """Return a healthy device that is near to these NUMA nodes."""
    return Device(name, "Healthy", nodes)


def on(*nodes: int) -> Mask:
    """Return a mask."""
    return Mask.of(nodes)


class TestMasks:
    """Numbers of nodes, as bits."""

    def test_they_come_with_the_narrow_ones_first(self) -> None:
        """Every combination once."""
        assert list(masks([0, 1, 3])) == [
            on(0), on(1), on(3), on(0, 1), on(0, 3), on(1, 3), on(0, 1, 3)
        ]  # fmt: skip

    @pytest.mark.parametrize("node", [-1, 64, 1000])
    def test_what_no_mask_has_room_for_never_matches(self, node: int) -> None:
        """Plugins may give any number."""
        assert on(node) == 0
        assert not Mask(-1).has(node)


class TestHints:
    """What the device manager offers for one resource."""

    DEVICES = (near("a0", 0), near("b0", 0), near("a1", 1), near("b1", 1))

    def hints(self, free: str, wanted: int, reusable: str = "") -> dict[int, bool]:
        """Return the masks for a request, and whether they are preferred."""
        by_name = {device.id: device for device in self.DEVICES}
        found = hints(
            self.DEVICES,
            [by_name[name] for name in free.split()],
            [by_name[name] for name in reusable.split()],
            wanted,
            [0, 1],
        )
        return {int(hint.mask or 0): hint.preferred for hint in found}

    @pytest.mark.parametrize(
        ("free", "wanted", "expected"),
        [
            ("a0 b0 a1 b1", 1, {on(0): True, on(1): True, on(0, 1): False}),
            ("a0 b0 a1 b1", 2, {on(0): True, on(1): True, on(0, 1): False}),
            ("a0 b0 a1 b1", 3, {on(0, 1): True}),
            ("a0 a1 b1", 2, {on(1): True, on(0, 1): False}),
            ("a0 a1", 2, {on(0, 1): False}),
            ("a0", 2, {}),
        ],
    )
    def test_masks_with_enough_free_devices_are_possible(
        self, free: str, wanted: int, expected: dict[int, bool]
    ) -> None:
        """Preferred is what would be the narrowest on an empty node (#136431)."""
        assert self.hints(free, wanted) == expected

    def test_a_mask_has_to_have_all_that_is_reusable(self) -> None:
        """So an app container stays with the init container before it."""
        assert self.hints("b0 a1 b1", 1, reusable="a0") == {on(0): True, on(0, 1): False}

    def test_a_device_near_to_several_nodes_counts_for_each(self) -> None:
        """Once per mask."""
        both = [near("x", 0, 1)]
        found = {int(hint.mask or 0) for hint in hints(both, both, [], 1, [0, 1])}
        assert found == {on(0), on(1), on(0, 1)}

    @pytest.mark.parametrize(
        ("with_devices_only", "machine", "tried"),
        [
            (False, [0, 1, 2, 3], [0, 1, 2, 3]),
            (True, [0, 1, 2, 3], [1, 2]),
            (True, [0, 2], [2]),
            (True, [0], [0]),
        ],
    )
    def test_nodes_without_devices_are_tried_in_older_versions(
        self, machine: list[int], tried: list[int], *, with_devices_only: bool
    ) -> None:
        """From 1.36 on they are left out, as are nodes that the machine does not have."""
        devices = [near("a", 1), near("b", 2), near("c", 99)]
        devices = devices if len(machine) > 1 else [near("c", 99)]
        assert nodes_to_try(devices, machine, with_devices_only=with_devices_only) == tried


class TestSplit:
    """Free devices, seen from the nodes that were chosen."""

    FREE: Final = {
        each.id: each for each in (near("a", 0), near("b", 1), near("both", 0, 1), near("no"))
    }

    def test_by_the_mask(self) -> None:
        """A device near to one of the nodes is aligned."""
        parts = split(self.FREE, on(1))
        assert parts.aligned == {"b", "both"}
        assert parts.unaligned == {"a"}
        assert parts.indifferent == {"no"}

    def test_without_a_mask_nothing_is_aligned(self) -> None:
        """No policy, or no preference."""
        assert split(self.FREE, None).indifferent == self.FREE.keys()

    @given(
        st.lists(st.lists(st.integers(0, 3), max_size=3, unique=True), max_size=8),
        st.lists(st.integers(0, 3), max_size=4),
    )
    def test_every_device_is_in_one_part(self, numa: list[list[int]], mask: list[int]) -> None:
        """None is lost and none is given twice."""
        free = {str(number): near(str(number), *nodes) for number, nodes in enumerate(numa)}
        parts = split(free, Mask.of(mask))
        together = [*parts.aligned, *parts.unaligned, *parts.indifferent]
        assert sorted(together) == sorted(free)
