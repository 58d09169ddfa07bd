"""nvidia-smi with questions: --query-gpu, -q, and what is wrong with a command line.

Headings, units and texts are those of public outputs: NVIDIA's knowledge base, "Useful nvidia-smi
queries"; the manual's RETURN VALUE, whose codes are NVML's; a field that is none, of many issues
(on standard output, code 2); a pod with a part of a card, Stability-AI/StableSwarmUI#388. Where a
card was lost under a running query the fields said `[GPU is lost]`; the tool's own exit code then
is nowhere to be found, and 0 here.
"""

import subprocess
from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.unit.fake_plugin.smi.container import SHELLS, Container, Told
from tests.unit.fake_plugin.smi.hardware import (
    H100,
    SEVENTH,
    THIRD,
    broken,
    parts,
    unknown,
    whole,
)

FULL = replace(whole(H100), memory_reserved_mib=540, clock_mhz=1980, memory_clock_mhz=2619)


@pytest.fixture
def node(container: Container) -> Container:
    """Return a container on a node with a whole card and a cut one."""
    container.show([FULL, *parts(H100, 1, THIRD, SEVENTH)])
    return container


def ask(container: Container, *arguments: str) -> Told:
    """Return what nvidia-smi says to a container that has all devices."""
    return container.run("nvidia-smi", *arguments, GPULAB_VISIBLE_DEVICES="all")


def query(container: Container, fields: str, form: str = "csv") -> list[str]:
    """Return the lines of a query."""
    told = ask(container, f"--query-gpu={fields}", f"--format={form}")
    assert (told.code, told.err) == (0, "")
    return told.lines


@pytest.mark.parametrize(
    ("field", "heading", "value"),
    [
        ("index", "index", "0"),
        ("name", "name", "NVIDIA H100 80GB HBM3"),
        ("gpu_name", "name", "NVIDIA H100 80GB HBM3"),
        ("uuid", "uuid", "GPU-00000000-0000-4000-8000-000000000000"),
        ("gpu_uuid", "uuid", "GPU-00000000-0000-4000-8000-000000000000"),
        ("serial", "serial", "1650000"),
        ("pci.bus_id", "pci.bus_id", "00000000:19:00.0"),
        ("pci.domain", "pci.domain", "0x0000"),
        ("pci.bus", "pci.bus", "0x19"),
        ("pci.device", "pci.device", "0x00"),
        ("driver_version", "driver_version", "570.133.20"),
        ("timestamp", "timestamp", "2025/08/26 15:49:52.000"),
        ("count", "count", "2"),
        ("memory.total", "memory.total [MiB]", "81559 MiB"),
        ("memory.used", "memory.used [MiB]", "26980 MiB"),
        ("memory.free", "memory.free [MiB]", "54039 MiB"),
        ("memory.reserved", "memory.reserved [MiB]", "540 MiB"),
        ("utilization.gpu", "utilization.gpu [%]", "100 %"),
        ("utilization.memory", "utilization.memory [%]", "[N/A]"),
        ("temperature.gpu", "temperature.gpu", "41"),
        ("temperature.memory", "temperature.memory", "47"),
        ("power.draw", "power.draw [W]", "362.48 W"),
        ("power.limit", "power.limit [W]", "700.00 W"),
        ("clocks.sm", "clocks.current.sm [MHz]", "1980 MHz"),
        ("clocks.mem", "clocks.current.memory [MHz]", "2619 MHz"),
        ("fan.speed", "fan.speed [%]", "[N/A]"),
        ("pstate", "pstate", "P0"),
        ("compute_mode", "compute_mode", "Default"),
        ("compute_cap", "compute_cap", "9.0"),
        ("persistence_mode", "persistence_mode", "Enabled"),
        ("mig.mode.current", "mig.mode.current", "Disabled"),
        ("ecc.mode.current", "ecc.mode.current", "Enabled"),
        (
            "ecc.errors.uncorrected.volatile.total",
            "ecc.errors.uncorrected.volatile.total",
            "0",
        ),
    ],
)
def test_field_has_its_heading_and_unit(
    node: Container, field: str, heading: str, value: str
) -> None:
    """Each field is headed, and each figure followed by its unit, as scripts parse them."""
    assert query(node, field)[:2] == [heading, value]


def test_fields_stand_in_the_order_asked(node: Container) -> None:
    """A row has its values in the order of the question, a comma and a space apart."""
    assert query(node, "memory.used,index, name", "csv,noheader")[0] == (
        "26980 MiB, 0, NVIDIA H100 80GB HBM3"
    )


def test_nounits_leaves_units_to_the_heading(node: Container) -> None:
    """Without units a value is a number."""
    assert query(node, "memory.total,power.draw", "csv,nounits")[:2] == [
        "memory.total [MiB], power.draw [W]",
        "81559, 362.48",
    ]


def test_cut_card_keeps_its_figures_to_itself(node: Container) -> None:
    """Who has a part of a card may not ask for the whole."""
    row = query(node, "mig.mode.current,memory.used,utilization.gpu,power.draw")[2]
    assert row == "Enabled, [Insufficient Permissions], [N/A], 362.48 W"


@pytest.mark.parametrize(
    ("kind", "code", "answer"),
    [
        ("xid", "79", "[GPU is lost]"),
        ("xid", "62", "[Unknown Error]"),
        ("unspecified", "", "[Unknown Error]"),
    ],
)
def test_broken_card_has_words_for_figures(
    container: Container, kind: str, code: str, answer: str
) -> None:
    """A script that reads figures meets what the real tool says in their place."""
    container.show([broken(whole(H100), kind, code)])
    row = query(container, "index,temperature.gpu,memory.used,power.draw", "csv,noheader")
    assert row == [f"0, {answer}, {answer}, {answer}"]


@pytest.mark.parametrize(("code", "counts"), [("single-bit", "1, 0"), ("double-bit", "0, 1")])
def test_ecc_errors_are_counted_apart(container: Container, code: str, counts: str) -> None:
    """What was corrected is counted as such."""
    container.show([broken(whole(H100), "ecc", code)])
    fields = "ecc.errors.corrected.volatile.total,ecc.errors.uncorrected.volatile.total"
    assert query(container, fields, "csv,noheader") == [counts]


def test_unknown_figures_are_not_available(container: Container) -> None:
    """No figure is 0 for want of one."""
    container.show([unknown(whole(H100))])
    fields = "serial,memory.total,memory.free,temperature.gpu,power.draw,power.limit,clocks.sm"
    assert query(container, fields, "csv,noheader") == [", ".join(["[N/A]"] * 7)]


def test_unknown_field_is_named(node: Container) -> None:
    """The first field that is none ends it, on standard output as with the real one: code 2."""
    told = ask(node, "--query-gpu=name,cuda_version", "--format=csv")
    assert told == Told(2, 'Field "cuda_version" is not a valid field to query.\n\n', "")


def test_processes_are_an_empty_list(node: Container) -> None:
    """A container's processes are not the driver's: the heading stands alone."""
    told = ask(node, "--query-compute-apps=pid,name,used_memory", "--format=csv")
    assert told == Told(0, "pid, process_name, used_gpu_memory [MiB]\n", "")


def test_every_field_of_the_help_can_be_asked(node: Container) -> None:
    """What --help-query-gpu lists is all there is, and works."""
    listed = [line.split('"')[1] for line in ask(node, "--help-query-gpu").lines]
    assert len(listed) > 40
    assert len(query(node, ",".join(listed))) == 3


def test_log_says_all_that_is_known(node: Container, snapshot: SnapshotAssertion) -> None:
    """-q tells of cards and MIG devices line by line."""
    assert ask(node, "-q").out == snapshot


def test_log_of_sections(node: Container, snapshot: SnapshotAssertion) -> None:
    """-d chooses what -q tells, and -i of which card."""
    assert ask(node, "-q", "-d", "MEMORY,ECC,POWER", "-i", "0").out == snapshot


def test_log_of_a_broken_card(container: Container) -> None:
    """A broken card says why it has no figures."""
    container.show([broken(whole(H100), "xid", "79")])
    told = ask(container, "-q", "-d", "TEMPERATURE")
    assert "        GPU Current Temp                  : GPU is lost" in told.lines


def test_list_of_a_lost_card(container: Container) -> None:
    """-L goes on after a card that it cannot open."""
    container.show([broken(whole(H100), "xid", "79"), whole(H100, 1)])
    first, second = ask(container, "-L").lines
    assert first == "Unable to determine the device handle for gpu 0000:19:00.0: Unknown Error"
    assert second.startswith("GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-00000001-")


def test_versions(node: Container) -> None:
    """--version has the four lines of the real tool."""
    assert ask(node, "--version").lines == [
        "NVIDIA-SMI version  : 570.133.20",
        "NVML version        : 570.133",
        "DRIVER version      : 570.133.20",
        "CUDA Version        : 12.8",
    ]


def test_help_says_what_is_imitated(node: Container, snapshot: SnapshotAssertion) -> None:
    """--help is of this tool, and says so."""
    assert ask(node, "--help").out == snapshot


HELP = "Please run 'nvidia-smi -h' for help.\n\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--foo"], "ERROR: Option --foo is not recognized. "),
        (["-i"], "ERROR: Option -i is missing its value. "),
        (["-l=x"], "ERROR: Option -l=x is not recognized. "),
        (["--loop=x"], "ERROR: Option --loop has the value x, which is no number. "),
        (["-lms", "a[$(touch pwned)]"], "ERROR: Option -lms has the value a[$(touch pwned)], "),
        (["-L", "-q"], "Invalid combination of input arguments. "),
        (["--query-gpu=name"], '"--format=" switch is missing'),
        (["--query-gpu=name", "--format=json"], '"--format=" switch is missing'),
    ],
)
def test_wrong_command_line_is_refused(node: Container, arguments: list[str], text: str) -> None:
    """What is wrong is named, and nothing else is said: code 2."""
    told = ask(node, *arguments)
    assert told.out.startswith(text)
    assert told.out.endswith(HELP)
    assert (told.code, told.err, list(node.work.iterdir())) == (2, "", [])


@pytest.mark.parametrize("arguments", [["topo", "-m"], ["-x", "-q"], ["dmon"], ["mig", "-lgi"]])
def test_what_is_not_imitated_is_refused_by_name(node: Container, arguments: list[str]) -> None:
    """A real option that the lab lacks is not answered with something else: code 3."""
    assert ask(node, *arguments) == Told(
        3,
        f"gpu-lab: this nvidia-smi does not imitate {arguments[0]}; "
        "nvidia-smi --help says what it does.\n",
        "",
    )


def test_loop_needs_a_sleep(node: Container) -> None:
    """In an image without `sleep` there is one table, and the reason why no more."""
    told = node.run("nvidia-smi", "-L", "-l", "1", shells=2, GPULAB_VISIBLE_DEVICES="all")
    assert told.code == 3
    assert told.lines[-1].startswith("gpu-lab: this nvidia-smi does not imitate --loop in an image")


@pytest.mark.parametrize(
    ("option", "slept"), [(["-l"], "5"), (["-l", "2"], "2"), (["-lms", "1500"], "1.500")]
)
def test_loop_asks_again_until_it_is_ended(node: Container, option: list[str], slept: str) -> None:
    """The table is read anew each time; a `sleep` that is interrupted ends the loop."""
    node.put_on_path("sleep", '#!/bin/sh\nif [ -e "$0-$1" ]; then exit 130; fi\n: >"$0-$1"\n')
    for shell in SHELLS[:2]:
        told = subprocess.run(
            [*shell, str(node.folder / "nvidia-smi"), "-L", "-i", "0", *option],
            env={"PATH": str(node.folder / "bin"), "GPULAB_VISIBLE_DEVICES": "all"},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        mark = node.folder / "bin" / f"sleep-{slept}"
        mark.unlink()
        assert (told.returncode, told.stdout.count("GPU 0:")) == (130, 2)
