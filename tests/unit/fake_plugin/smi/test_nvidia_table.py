"""nvidia-smi without options.

The layout is that of driver 570, as published by users and by NVIDIA:
- https://docs.ccr.buffalo.edu, "GPU monitoring" (570.133.20, H100 80GB HBM3)
- B200 on 570.133.20, a cloud's page "Confirm GPU functionality"
- NVIDIA's MIG User Guide, "Creating GPU Instances" (H100, MIG devices, "Shared Memory-Usage")
- NVIDIA/gpu-operator#559 (what of a row turns into ERR!; driver 525, narrower)
- NVIDIA/dcgm-exporter#604, NVIDIA/nvidia-docker#1553 (a lost card: one line, no table)
"""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from tests.unit.fake_plugin.smi.container import Container, Told
from tests.unit.fake_plugin.smi.hardware import (
    H100,
    SEVENTH,
    THIRD,
    broken,
    names,
    parts,
    unknown,
    whole,
)

WIDTH = 91
H100_ROWS = """\
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
| N/A   41C    P0            362W /  700W |   26980MiB /  81559MiB |    100%      Default |
|                                         |                        |             Disabled |
"""
B200_ROW = """\
| N/A   32C    P0            145W / 1000W |       0MiB / 183359MiB |      0%      Default |
"""
UNKNOWN_ROW = """\
| N/A   N/A    P0            N/A  /  N/A  |                  N/A   |    100%      Default |
"""


def box_widths(told: Told) -> set[int]:
    """Return the lengths of all lines that belong to boxes."""
    return {len(line) for line in told.lines if line[:1] in {"+", "|"}}


def test_table_of_one_card(container: Container, snapshot: SnapshotAssertion) -> None:
    """The chapter's pod sees its GPU as on a real node."""
    container.show([whole(H100), whole(H100, 1)])
    told = container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES=names(whole(H100)))
    assert (told.code, told.err) == (0, "")
    assert told.out == snapshot


def test_card_stands_as_published(container: Container) -> None:
    """A card with the figures of a published output has its rows, sign for sign."""
    container.show([whole(H100)])
    told = container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all")
    assert told.lines[0] == "Tue Aug 26 15:49:52 2025       "
    assert told.lines[8:11] == H100_ROWS.splitlines()


def test_large_figures_stand_as_published(container: Container) -> None:
    """Six digits of memory and four of power fit, as on a B200."""
    b200 = replace(H100, product="NVIDIA B200", memory_mib=183359, power_watts=1000)
    idle = replace(
        whole(b200),
        memory_used_mib=0,
        utilization=0.0,
        power_watts=145.9,
        temperature_celsius=32,
    )
    container.show([idle])
    row = container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all").lines[9]
    assert [row] == B200_ROW.splitlines()


def test_long_name_is_cut_as_published(container: Container) -> None:
    """A name of more than 27 letters ends in three dots."""
    container.show([whole(replace(H100, product="NVIDIA RTX PRO 6000 Blackwell Server Edition"))])
    row = container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all").lines[8]
    assert row.startswith("|   0  NVIDIA RTX PRO 6000 Blac...    On  |")


def test_mig_devices(container: Container, snapshot: SnapshotAssertion) -> None:
    """A container with parts of a card sees their figures, and of the card what is not memory."""
    devices = parts(H100, 1, THIRD, SEVENTH, SEVENTH)
    container.show([whole(H100), *devices])
    told = container.run(
        "nvidia-smi", GPULAB_VISIBLE_DEVICES_NVIDIA_COM_MIG=names(devices[0], devices[2])
    )
    assert told.out == snapshot
    assert box_widths(told) == {WIDTH}


def test_mig_device_stands_as_published(container: Container) -> None:
    """A MIG device has the row of NVIDIA's guide, but for figures that the lab does not know."""
    container.show(parts(H100, 0, THIRD))
    lines = container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all").lines
    assert [line[:55] for line in lines if line.startswith("|  0    ")] == [
        "|  0    1   0   0  |              44MiB / 40448MiB    |"
    ]


def test_failed_card_shows_errors(container: Container, snapshot: SnapshotAssertion) -> None:
    """A card that does not answer has ERR! where its figures were, and its sisters are sound."""
    container.show([whole(H100), broken(whole(H100, 1), "xid", "62")])
    told = container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all")
    assert told.out == snapshot
    assert box_widths(told) == {WIDTH}


def test_failed_mig_device_shows_errors(container: Container) -> None:
    """The row of a broken part says so, in columns of ours: no public output shows one."""
    first, second = parts(H100, 0, SEVENTH, SEVENTH)
    container.show([first, broken(second, "xid", "94")])
    told = container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all")
    rows = [line for line in told.lines if line.startswith("|  0    ")]
    assert ["ERR!" in row for row in rows] == [False, True]
    assert box_widths(told) == {WIDTH}


def test_lost_card_ends_the_tool(container: Container) -> None:
    """With a card off the bus, Xid 79, there is no table at all: NVML's code 15."""
    lost = broken(whole(H100, 1), "xid", "79")
    container.show([whole(H100), lost])
    told = container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all")
    assert told == Told(
        15, "Unable to determine the device handle for GPU0000:1A:00.0: Unknown Error\n", ""
    )
    assert container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES=names(whole(H100))).code == 0


@pytest.mark.parametrize(
    ("kind", "code", "column"), [("ecc", "double-bit", "1"), ("ecc", "single-bit", "0")]
)
def test_only_uncorrected_errors_are_counted(
    container: Container, kind: str, code: str, column: str
) -> None:
    """The column is called uncorrected: one bit is not in it, two are."""
    container.show([broken(whole(H100), kind, code)])
    row = container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all").lines[8]
    assert row.split("|")[3].strip() == column


def test_ignored_xid_leaves_no_trace(container: Container) -> None:
    """An application's error is in the log of the kernel, and not in the table."""
    container.show([whole(H100)])
    sound = container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all")
    container.show([broken(whole(H100), "xid", "31")])
    assert container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all") == sound


def test_unknown_figures_are_not_available(container: Container) -> None:
    """What is not known is N/A, in columns as wide as ever."""
    container.show([unknown(whole(H100))])
    told = container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all")
    assert told.lines[9:10] == UNKNOWN_ROW.splitlines()
    assert box_widths(told) == {WIDTH}


def test_empty_path_costs_only_the_time(container: Container) -> None:
    """With no program at all beside the shell, and no HOME, the table lacks its first line."""
    container.show([whole(H100)])
    with_date = container.run("nvidia-smi", shells=2, GPULAB_VISIBLE_DEVICES="all")
    without = container.run("nvidia-smi", shells=2, GPULAB_VISIBLE_DEVICES="all", PATH="")
    assert (without.code, without.err) == (0, "")
    assert without.lines == with_date.lines[1:]


def test_new_table_is_seen_at_once(container: Container) -> None:
    """What breaks while a container runs is broken in its next look."""
    container.show([whole(H100)])
    container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all")
    container.show([broken(whole(H100), "unspecified")])
    assert "ERR!" in container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all").out


def test_missing_table_is_a_missing_driver(container: Container) -> None:
    """Before the plugin has run there is no driver, in the words of the real tool: code 9."""
    told = container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all")
    assert told == Told(
        9,
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
        "Make sure that the latest NVIDIA driver is installed and running.\n\n",
        "",
    )


def test_table_of_another_format_is_another_driver(container: Container) -> None:
    """A container that outlives an upgrade has the old program, and is told: code 18."""
    container.units.mkdir()
    (container.units / "units").write_text("gpulab-units|2|.\n")
    told = container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all")
    assert told == Told(18, "Failed to initialize NVML: Driver/library version mismatch\n", "")


HOSTILE = (
    "$(touch pwned)`touch pwned`",
    "%s%s%n %d | | '\"\\n\\",
    "'; touch pwned; '",
    "*",
    "-n -e",
    "\x1b[31m\n|\r\t",
    "Ünïcödé 加速卡",
)


@pytest.mark.parametrize("product", HOSTILE)
def test_hostile_names_are_only_shown(container: Container, product: str) -> None:
    """A card's name is text: it neither runs, nor breaks a box, nor becomes file names."""
    (container.work / "file").touch()
    container.show([whole(replace(H100, product=product))])
    told = container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all")
    assert (told.code, told.err, box_widths(told)) == (0, "", {WIDTH})
    shown = "".join(each if " " <= each <= "~" and each != "|" else "?" for each in product)
    told = container.run("nvidia-smi", "-L", GPULAB_VISIBLE_DEVICES="all")
    assert told.out.startswith(f"GPU 0: {shown} (UUID: GPU-")
    assert [each.name for each in container.work.iterdir()] == ["file"]


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=60))
def test_any_name_leaves_the_boxes_whole(lasting_container: Container, product: str) -> None:
    """Every line of a box is equally long, whatever a card is called."""
    lasting_container.show([whole(replace(H100, product=product))])
    told = lasting_container.run("nvidia-smi", GPULAB_VISIBLE_DEVICES="all")
    assert (told.code, box_widths(told)) == (0, {WIDTH})
