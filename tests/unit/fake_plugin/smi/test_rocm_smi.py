"""rocm-smi.

Layouts: ROCm/legacy-rocm-build#5231 (a whole MI300X), #4750 (partitions, each with the figures of
its card), #4759 (a report, and its tabs); ROCm/ROCm#2408 (memory). Without a driver it reports an
error and exits with 0, as ROCm/ROCm#2767 and others saw; without GPUs, ROCm/ROCm#2995. Which word
stands where a figure is missing, and the order of sections: rocm_smi.py of ROCm/rocm_smi_lib.
"""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from tests.unit.fake_plugin.smi.container import Container, Told
from tests.unit.fake_plugin.smi.hardware import (
    CPX,
    H100,
    MI300X,
    broken,
    names,
    parts,
    unknown,
    whole,
)

CARDS = [whole(MI300X, minor) for minor in range(3)]
PARTS = parts(MI300X, 3, CPX, CPX)
NODE = [*CARDS, *PARTS, whole(H100)]
#: Of issue 5231, but for what the lab does not know: node, device, GUID.
ROW_5231 = "39.0°C      191.0W    NPS1, SPX, 0        2105Mhz  900Mhz  0%   auto  750.0W  95%    0%"
HEAD_5231 = (
    "Temp        Power     Partitions          SCLK     MCLK    Fan  Perf  PwrCap  VRAM%  GPU%"
)


def ask(container: Container, *arguments: str, shells: int = 0) -> Told:
    """Return what rocm-smi says to a container that has all devices."""
    return container.run("rocm-smi", *arguments, shells=shells, GPULAB_VISIBLE_DEVICES="all")


@pytest.fixture
def node(container: Container) -> Container:
    """Return a container on a node with whole cards, a cut one, and one of another vendor."""
    container.show(NODE)
    return container


def test_table(node: Container, snapshot: SnapshotAssertion) -> None:
    """Cards and parts of cards are GPUs alike, numbered from 0."""
    told = ask(node)
    assert (told.code, told.err) == (0, "")
    assert told.out == snapshot


def test_card_stands_as_published(container: Container) -> None:
    """A card with the figures of a published output has its row, and its heading."""
    card = replace(
        CARDS[0],
        temperature_celsius=39,
        power_watts=191.0,
        clock_mhz=2105,
        memory_clock_mhz=900,
        memory_used_mib=186762,
        utilization=0.0,
    )
    container.show([card])
    lines = ask(container).lines
    assert [lines[4].rstrip()[28:], lines[7].rstrip()[28:]] == [HEAD_5231, ROW_5231]


def test_lines_of_the_table_are_equally_long(node: Container) -> None:
    """Signs and rows end in one column, but for the first and last of an odd table."""
    lengths = {len(line) for line in ask(node).lines if line}
    assert len(lengths) == 1


@settings(max_examples=20)
@given(st.sets(st.sampled_from([each.unit for each in (*CARDS, *PARTS)]), min_size=1))
def test_container_sees_its_own_and_no_others(
    lasting_container: Container, given_units: set[str]
) -> None:
    """Any set of units is exactly what is reported, by serial and by memory."""
    lasting_container.show(NODE)
    told = lasting_container.run(
        "rocm-smi",
        *("--showserial", "--showmeminfo", "vram", "--json"),
        GPULAB_VISIBLE_DEVICES=",".join(sorted(given_units)),
    )
    expected = [each for each in NODE if each.unit in given_units]
    assert [
        (each["Serial Number"], int(each["VRAM Total Memory (B)"]))
        for each in json.loads(told.out).values()
    ] == [(each.card.serial, (each.memory_total_mib or 0) * 2**20) for each in expected]


def test_report_has_a_section_for_every_question(
    node: Container, snapshot: SnapshotAssertion
) -> None:
    """Questions are answered in the order of the real tool, whatever that on the command line."""
    told = ask(
        node,
        *("--showuse", "--showid", "--showproductname", "--showmeminfo", "vram"),
        *("--showtemp", "--showpower", "-M", "--showbus", "--showdriverversion", "-d", "0", "3"),
    )
    assert told.out == snapshot


def test_report_as_json(node: Container) -> None:
    """--json has the same labels and values, one object per card."""
    told = ask(node, "--showproductname", "--showuse", "--showpower", "-t", "--json", "-d", "0")
    assert json.loads(told.out) == {
        "card0": {
            "Card Series": "AMD Instinct MI300X",
            "Card Model": "N/A",
            "Card Vendor": "Advanced Micro Devices, Inc. [AMD/ATI]",
            "Card SKU": "N/A",
            "GFX Version": "gfx942",
            "Temperature (Sensor junction) (C)": "41.0",
            "Temperature (Sensor memory) (C)": "47.0",
            "GPU use (%)": "100",
            "Current Socket Graphics Package Power (W)": "362.4",
        }
    }


def test_driver_is_the_nodes(node: Container) -> None:
    """The version of the driver is no card's: as JSON it has an object of its own."""
    system = {"system": {"Driver version": "6.10.5"}}
    assert json.loads(ask(node, "--showdriverversion", "--json").out) == system
    both = json.loads(ask(node, "--showdriverversion", "-u", "-d", "0", "--json").out)
    assert both == {"card0": {"GPU use (%)": "100"}, **system}


@pytest.mark.parametrize("product", ['a "quoted" \\name\\', "$(touch pwned) %s `x`", "*", "\n{}|"])
def test_hostile_names_are_only_shown(container: Container, product: str) -> None:
    """A card's name is text: it does not run, and it stays within its string."""
    container.show([whole(replace(MI300X, product=product))])
    told = ask(container, "--showproductname", "--json")
    expected = "".join(each if " " <= each <= "~" and each != "|" else "?" for each in product)
    assert json.loads(told.out)["card0"]["Card Series"] == expected
    assert (told.err, list(container.work.iterdir())) == ("", [])


def test_failed_card_has_no_figures(container: Container) -> None:
    """Where the driver cannot read a card, the tool says so in every column."""
    container.show([broken(CARDS[0], "unspecified"), CARDS[1]])
    failed, sound = (line.split() for line in ask(container).lines[7:9])
    assert " ".join(failed[4:]) == (
        "N/A N/A NPS1, SPX, 0 N/A N/A 0% unsupported Unsupported Unsupported Unsupported"
    )
    assert "41.0°C" in sound


def test_unknown_figures_are_not_available(container: Container) -> None:
    """No figure is 0 for want of one."""
    container.show([unknown(CARDS[0])])
    told = ask(container, "--showmeminfo", "vram", "-t", "-P", "-M", "--showserial", "--json")
    assert set(json.loads(told.out)["card0"].values()) == {"N/A"}


def test_table_is_no_json(node: Container) -> None:
    """The real tool refuses its table as JSON: code 1."""
    assert ask(node, "--json") == Told(
        1, "ERROR: Cannot print JSON/CSV output for concise output\n", ""
    )


def test_no_driver_is_no_failure(container: Container) -> None:
    """Without a table there is no driver; the real tool exits with 0 then."""
    assert ask(container) == Told(
        0, "", "ERROR:root:Driver not initialized (amdgpu not found in modules)\n"
    )


def test_no_device_is_a_warning(node: Container) -> None:
    """A container that was given nothing of AMD sees nothing."""
    told = node.run("rocm-smi", GPULAB_VISIBLE_DEVICES=names(whole(H100)))
    assert told == Told(0, "", "WARNING: No AMD GPUs specified\n")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(["--showrasinfo"], "--showrasinfo"), (["--showmeminfo", "gtt"], "--showmeminfo gtt")],
)
def test_what_is_not_imitated_is_refused_by_name(
    node: Container, arguments: list[str], named: str
) -> None:
    """An option that the lab lacks is not answered with something else: code 2."""
    assert ask(node, *arguments) == Told(
        2,
        "",
        f"gpu-lab: this rocm-smi does not imitate {named}; rocm-smi --help says what it does.\n",
    )


def test_help_and_version(node: Container, snapshot: SnapshotAssertion) -> None:
    """--help is of this tool, and says so."""
    assert ask(node, "--help").out == snapshot
    assert ask(node, "--version").lines == [
        "ROCM-SMI version: 3.0.0",
        "ROCM-SMI-LIB version: 7.5.0",
    ]


def test_report_needs_no_other_program(node: Container) -> None:
    """A shell alone is enough."""
    told = node.run("rocm-smi", GPULAB_VISIBLE_DEVICES="all", PATH="")
    assert told == ask(node)
