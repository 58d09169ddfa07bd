"""npu-smi.

Layouts: vllm-project/vllm-ascend#1130 and others of driver 25.2 (the table, 910B3), a guide to the
installation of 910B4 cards (-l and -m, with the controller's rows), Huawei's npu-smi reference
(-t health, with a code where something is wrong). A driver that is not there is -8005, no device to
use is -8020: Ascend's own source of npu-smi, and many issues.
"""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from tests.unit.fake_plugin.smi.container import Container, Told
from tests.unit.fake_plugin.smi.hardware import ASCEND, H100, broken, names, unknown, whole

CARDS = [whole(ASCEND, minor) for minor in range(4)]
NODE = [*CARDS, whole(H100)]
WIDTH = 98
NO_DEVICE = Told(1, "dcmi model initialized failed, because the device is used. ret is -8020\n", "")
#: Of issue 1130, with the numbers of the lab's first card.
ROWS_1130 = """\
| 0     910B3               | OK            | 97.5        41                0    / 0             |
| 0                         | 0000:19:00.0  | 0           0    / 0          3379 / 65536         |
"""
UNKNOWN_ROWS = """\
| 0     910B3               | OK            | -           -                 0    / 0             |
| 0                         | 0000:19:00.0  | 100         0    / 0          -    / -             |
"""


def ask(container: Container, *arguments: str) -> Told:
    """Return what npu-smi says to a container that has all devices."""
    return container.run("npu-smi", *arguments, GPULAB_VISIBLE_DEVICES="all")


def listed(container: Container, **variables: str) -> list[str]:
    """Return the numbers of the NPUs that -l shows."""
    told = container.run("npu-smi", "info", "-l", shells=0, **variables)
    return [line.split()[-1] for line in told.lines if "NPU ID" in line]


@pytest.fixture
def node(container: Container) -> Container:
    """Return a container on a node with four cards, and one of another vendor."""
    container.show(NODE)
    return container


def test_table(node: Container, snapshot: SnapshotAssertion) -> None:
    """NPUs keep the numbers of the node, as on a real one."""
    told = node.run("npu-smi", "info", GPULAB_VISIBLE_DEVICES=names(CARDS[1], CARDS[3]))
    assert (told.code, told.err) == (0, "")
    assert told.out == snapshot
    assert {len(line) for line in told.lines} == {WIDTH}


def test_card_stands_as_published(container: Container) -> None:
    """A card with the figures of a published output has its rows, sign for sign."""
    container.show([replace(CARDS[0], power_watts=97.5, memory_used_mib=3379, utilization=0.0)])
    assert ask(container, "info").lines[6:8] == ROWS_1130.splitlines()


def test_unknown_figures_are_dashes(container: Container) -> None:
    """What is not known is the tool's own dash."""
    container.show([unknown(CARDS[0])])
    assert ask(container, "info").lines[6:8] == UNKNOWN_ROWS.splitlines()


@pytest.mark.parametrize("code", ["80E01801", ""])
def test_broken_card_raises_an_alarm(container: Container, code: str) -> None:
    """The table says Alarm, and -t health the code where there is one."""
    container.show([CARDS[0], broken(CARDS[1], "fault-code" if code else "unspecified", code)])
    rows = ask(container, "info").lines[6:10:3]
    assert [row.split("|")[2].strip() for row in rows] == ["OK", "Alarm"]
    assert ask(container, "info", "-t", "health", "-i", "1").lines == [
        "\tHealth Status                  : Alarm",
        f"\tError Code                     : {code or 'NA'}",
        "\tError Information              : NA",
    ]


@settings(max_examples=20)
@given(st.sets(st.integers(0, 3), min_size=1))
def test_container_sees_its_own_and_no_others(
    lasting_container: Container, minors: set[int]
) -> None:
    """Any set of cards is exactly what is listed, by our variable and by Ascend's."""
    lasting_container.show(NODE)
    expected = [str(minor) for minor in sorted(minors)]
    ours = names(*(CARDS[minor] for minor in minors))
    assert listed(lasting_container, GPULAB_VISIBLE_DEVICES=ours) == expected
    assert listed(lasting_container, ASCEND_VISIBLE_DEVICES=",".join(expected)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("1-3", ["1", "2", "3"]), ("0,2-3", ["0", "2", "3"]), ("Ascend910-2", ["2"]), ("7", [])],
)
def test_ascends_variable_is_read_where_ours_is_not(
    node: Container, value: str, expected: list[str]
) -> None:
    """Numbers, ranges and names mean what they mean to Ascend's runtime."""
    assert listed(node, ASCEND_VISIBLE_DEVICES=value) == expected


def test_what_allocate_said_is_not_overruled(node: Container) -> None:
    """Ascend's variable is the user's to set; what the plugin gave stays the measure."""
    ours = names(CARDS[0])
    assert listed(node, GPULAB_VISIBLE_DEVICES=ours, ASCEND_VISIBLE_DEVICES="0-3") == ["0"]


def test_a_name_is_not_the_beginning_of_another(container: Container) -> None:
    """Ascend910-1 is one card, and Ascend910-11 another."""
    container.show([whole(ASCEND, minor) for minor in range(12)])
    assert listed(container, GPULAB_VISIBLE_DEVICES="Ascend910-11") == ["11"]
    assert listed(container, GPULAB_VISIBLE_DEVICES="Ascend910-1") == ["1"]


def test_list_and_mapping(node: Container, snapshot: SnapshotAssertion) -> None:
    """-l has a block for each card, -m a row for its chip and one for its controller."""
    mine = names(CARDS[1], CARDS[2])
    assert node.run("npu-smi", "info", "-l", GPULAB_VISIBLE_DEVICES=mine).out == snapshot
    assert node.run("npu-smi", "info", "-m", GPULAB_VISIBLE_DEVICES=mine).out == snapshot


@pytest.mark.parametrize("kind", ["health", "power", "temp", "usages"])
def test_one_card(node: Container, kind: str, snapshot: SnapshotAssertion) -> None:
    """-t tells one thing of one card."""
    assert ask(node, "info", "-t", kind, "-i", "2", "-c", "0").out == snapshot


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["-t", "health", "-i", "9"], "Error parameter of -i, NPU 9 is not in this container"),
        (["-t", "health"], "Error parameter of -i, the NPU is missing"),
        (["-t"], "Error parameter of -t, its value is missing"),
        (
            ["-t", "board", "-i", "0"],
            "gpu-lab: this npu-smi does not imitate info -t board; npu-smi -h says what it does.",
        ),
        (["-x"], "gpu-lab: this npu-smi does not imitate -x; npu-smi -h says what it does."),
    ],
)
def test_wrong_question_is_refused(node: Container, arguments: list[str], text: str) -> None:
    """What is wrong or lacking is named: code 1."""
    assert ask(node, "info", *arguments) == Told(1, f"{text}\n", "")


def test_no_driver(container: Container) -> None:
    """Without a table there is no driver."""
    assert ask(container, "info") == Told(1, "dcmi module initialize failed. ret is -8005\n", "")


@pytest.mark.parametrize("value", ["", names(whole(H100))])
def test_no_device(node: Container, value: str) -> None:
    """A container that was given nothing of Ascend's sees nothing."""
    assert node.run("npu-smi", "info", GPULAB_VISIBLE_DEVICES=value) == NO_DEVICE


def test_help_and_version(node: Container, snapshot: SnapshotAssertion) -> None:
    """The help is of this tool, and says so."""
    assert ask(node).out == snapshot
    assert ask(node, "-v").lines == ["npu-smi version: 25.2.0"]


@pytest.mark.parametrize("name", ["$(touch pwned)`x`", "%s|%d\\n '\"", "*", "x" * 60, "加速卡"])
def test_hostile_names_are_only_shown(container: Container, name: str) -> None:
    """A chip's name is text: it neither runs, nor breaks the table."""
    container.show([whole(replace(ASCEND, architecture=name))])
    told = ask(container, "info")
    assert (told.code, told.err, list(container.work.iterdir())) == (0, "", [])
    assert {len(line) for line in told.lines} == {WIDTH}


def test_table_needs_no_other_program(node: Container) -> None:
    """A shell alone is enough."""
    assert node.run("npu-smi", "info", GPULAB_VISIBLE_DEVICES="all", PATH="") == ask(node, "info")
