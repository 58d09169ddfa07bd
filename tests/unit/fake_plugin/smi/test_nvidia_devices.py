"""Which devices nvidia-smi takes for the container's."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.fake_plugin.smi.container import Container, Told
from tests.unit.fake_plugin.smi.hardware import H100, MI300X, SEVENTH, THIRD, names, parts, whole

CARDS = [whole(H100, minor) for minor in range(3)]
DEVICES = parts(H100, 3, THIRD, SEVENTH)
NODE = [*CARDS, *DEVICES, whole(MI300X)]
NONE = Told(6, "No devices were found\n", "")


def listed(container: Container, *arguments: str, shells: int = 0, **variables: str) -> list[str]:
    """Return the names of the units that -L shows."""
    told = container.run("nvidia-smi", "-L", *arguments, shells=shells, **variables)
    found = [line.partition("UUID: ")[2].rstrip(")") for line in told.lines if "UUID" in line]
    return [name for name in found if name != DEVICES[0].card.uid]


@pytest.fixture
def node(container: Container) -> Container:
    """Return a container on a node with whole cards, a cut one, and one of another vendor."""
    container.show(NODE)
    return container


@settings(max_examples=30)
@given(st.sets(st.sampled_from([each.unit for each in (*CARDS, *DEVICES)])))
def test_container_sees_its_own_and_no_others(
    lasting_container: Container, given_units: set[str]
) -> None:
    """Any set of units, in any order, is exactly what is listed."""
    lasting_container.show(NODE)
    value = ",".join(sorted(given_units, reverse=True))
    found = listed(lasting_container, GPULAB_VISIBLE_DEVICES=value)
    assert len(found) == len(given_units)
    assert set(found) == given_units


def test_resources_of_a_container_add_up(node: Container) -> None:
    """The short variable is one resource's answer; each resource has its own beside it."""
    found = listed(
        node,
        GPULAB_VISIBLE_DEVICES=names(DEVICES[0]),
        GPULAB_VISIBLE_DEVICES_NVIDIA_COM_MIG_3G_40GB=names(DEVICES[0]),
        GPULAB_VISIBLE_DEVICES_NVIDIA_COM_MIG_1G_10GB=names(DEVICES[1]),
        GPULAB_VISIBLE_DEVICES_AMD_COM_GPU=names(whole(MI300X)),
    )
    assert found == [each.unit for each in DEVICES]


def test_cards_are_numbered_from_0(node: Container) -> None:
    """To a container, its third card of the node is the first."""
    told = node.run("nvidia-smi", "-L", GPULAB_VISIBLE_DEVICES=names(CARDS[2], DEVICES[1]))
    assert told.lines == [
        f"GPU 0: NVIDIA H100 80GB HBM3 (UUID: {CARDS[2].unit})",
        f"GPU 1: NVIDIA H100 80GB HBM3 (UUID: {DEVICES[1].card.uid})",
        f"  MIG 1g.10gb     Device  0: (UUID: {DEVICES[1].unit})",
    ]


@pytest.mark.parametrize(
    ("value", "units"),
    [
        ("all", [*CARDS, *DEVICES]),
        (CARDS[1].unit, [CARDS[1]]),
        (names(CARDS[2], DEVICES[1]), [CARDS[2], DEVICES[1]]),
        ("0,2", [CARDS[0], CARDS[2]]),
        ("3", DEVICES),
        ("3:1", [DEVICES[1]]),
    ],
)
def test_nvidias_variable_is_read_where_ours_is_not(
    node: Container, value: str, units: list[object]
) -> None:
    """UUIDs, MIG UUIDs, indexes and `all` mean what they mean to NVIDIA's runtime."""
    expected = [each.unit for each in NODE if each in units]
    assert listed(node, NVIDIA_VISIBLE_DEVICES=value) == expected


@pytest.mark.parametrize("value", ["void", "none", "", "GPU-of-another-node"])
def test_no_device_is_said_so(node: Container, value: str) -> None:
    """Nothing to show is an error of the real tool: code 6."""
    assert node.run("nvidia-smi", NVIDIA_VISIBLE_DEVICES=value) == NONE
    assert node.run("nvidia-smi", GPULAB_VISIBLE_DEVICES=value) == NONE


def test_no_variable_is_no_device(node: Container) -> None:
    """A container that was given nothing sees nothing."""
    assert node.run("nvidia-smi", "-L") == NONE


def test_what_allocate_said_is_not_overruled(node: Container) -> None:
    """NVIDIA's variable is the user's to set; what the plugin gave stays the measure."""
    found = listed(node, GPULAB_VISIBLE_DEVICES=names(CARDS[0]), NVIDIA_VISIBLE_DEVICES="all")
    assert found == [CARDS[0].unit]


def test_our_variable_holds_names_and_no_numbers(node: Container) -> None:
    """A device that happens to be called by a number is not the card of that number."""
    assert node.run("nvidia-smi", "-L", GPULAB_VISIBLE_DEVICES="0,1") == NONE


def test_volume_mounts_name_devices(node: Container, tmp_path: Path) -> None:
    """With the strategy volume-mounts the names are those of files in a folder."""
    folder = tmp_path / "nvidia-container-devices"
    folder.mkdir()
    for each in (CARDS[1], DEVICES[0]):
        (folder / each.unit).touch()
    found = listed(node, NVIDIA_VISIBLE_DEVICES=str(folder))
    assert found == [CARDS[1].unit, DEVICES[0].unit]


def test_empty_folder_of_volume_mounts_is_no_device(node: Container, tmp_path: Path) -> None:
    """A pattern that matches no file is not taken for a name."""
    assert node.run("nvidia-smi", NVIDIA_VISIBLE_DEVICES=str(tmp_path / "missing")) == NONE


def test_lines_of_other_variables_are_not_ours(node: Container) -> None:
    """A value may hold lines that look like variables; they are not the plugin's."""
    value = f"one\nexport GPULAB_VISIBLE_DEVICES_X='{CARDS[0].unit}'\nGPULAB_VISIBLE_DEVICES_Y=all"
    assert node.run("nvidia-smi", OTHER=value) == NONE


@pytest.mark.parametrize(
    "value",
    ["$(touch pwned)", "`touch pwned`", "*", "';touch pwned;'", '"|%s\\'],
)
def test_hostile_variable_is_only_compared(node: Container, value: str) -> None:
    """The environment is a user's: it names devices or nothing."""
    (node.work / "all").touch()
    assert node.run("nvidia-smi", GPULAB_VISIBLE_DEVICES=value) == NONE
    assert node.run("nvidia-smi", NVIDIA_VISIBLE_DEVICES=value) == NONE
    assert [each.name for each in node.work.iterdir()] == ["all"]


@pytest.mark.parametrize(
    ("chosen", "units"),
    [
        ("1", [CARDS[2]]),
        (CARDS[0].unit, [CARDS[0]]),
        ("00000000:1B:00.0", [CARDS[2]]),
        ("0,1", [CARDS[0], CARDS[2]]),
    ],
)
def test_id_chooses_among_the_containers_cards(
    node: Container, chosen: str, units: list[object]
) -> None:
    """-i takes numbers of the container, UUIDs and PCI bus IDs, and keeps the numbers."""
    mine = names(CARDS[0], CARDS[2])
    expected = [each.unit for each in CARDS if each in units]
    assert listed(node, "-i", chosen, GPULAB_VISIBLE_DEVICES=mine) == expected


@pytest.mark.parametrize("chosen", ["2", CARDS[1].unit, "0000:1A:00.0"])
def test_id_of_anothers_card_is_not_found(node: Container, chosen: str) -> None:
    """-i does not reach beyond the container: code 6."""
    mine = names(CARDS[0], CARDS[2])
    assert node.run("nvidia-smi", f"--id={chosen}", GPULAB_VISIBLE_DEVICES=mine) == NONE
