"""A timeline as a picture."""

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from rich.cells import cell_len

from lab.core.language import Language
from lab.harness.timeline.picture import picture
from lab.harness.timeline.timeline import Timeline
from tests.unit.harness.timeline.observed import IDS, allocate, pending, rejected, running
from tests.unit.harness.timeline.test_allocation import REFUSED

SVG = "{http://www.w3.org/2000/svg}"
STATES = {
    "runs": running(),
    "pending": pending(),
    "rejected": rejected((allocate(3, 5.2, IDS[0], code="UNKNOWN"),), f"{REFUSED} <&> \x00\x1b"),
}


def drawn(state: str, language: Language) -> ET.Element:
    """Return the picture, read as the XML that it is."""
    document = picture(Timeline.of(STATES[state]), language)
    return ET.fromstring(document)  # noqa: S314 - our own


def texts(root: ET.Element) -> list[str]:
    """Return the lines of text."""
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def outcomes(state: str) -> list[str | None]:
    """Return how the nine steps ended, as the picture has it."""
    return [each.get("class") for each in drawn(state, "en").iter(f"{SVG}g")]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("runs", ["done"] * 9),
        ("pending", ["done"] * 4 + ["waiting"] * 5),
        ("rejected", ["done"] * 6 + ["failed", "never", "never"]),
    ],
)
def test_every_step_has_its_strip_and_its_colour(state: str, expected: list[str]) -> None:
    """What has not come looks otherwise than what has."""
    assert outcomes(state) == expected


def test_arrows_go_from_who_acts_to_whom() -> None:
    """Their ends are at the lanes that are named above."""
    root = drawn("runs", "en")
    lanes = {each.text: each.get("x") for each in root.iter(f"{SVG}text") if _is_head(each)}
    arrows = [
        (line.get("x1"), tip.get("points", "").partition(",")[0])
        for group in root.iter(f"{SVG}g")
        for line, tip in zip(_arrows(group), group.iter(f"{SVG}polygon"), strict=True)
    ]
    plugin, kubelet, api = lanes["plugin"], lanes["kubelet"], lanes["API server"]
    there = [(plugin, kubelet), (plugin, kubelet), (kubelet, api), (lanes["scheduler"], api)]
    back = [(kubelet, plugin), (plugin, kubelet), (kubelet, lanes["runtime"])]
    assert arrows == there + back


def _is_head(text: ET.Element) -> bool:
    return text.get("class") == "head"


def _arrows(group: ET.Element) -> list[ET.Element]:
    return [each for each in group.iter(f"{SVG}line") if each.get("class") == "arrow"]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("state", STATES)
def test_everything_is_inside_of_the_picture(state: str, language: Language) -> None:
    """No line is wider than a phone, and the last one is not cut off."""
    root = drawn(state, language)
    assert max(map(cell_len, texts(root))) <= 54
    lowest = max(float(each.get("y", "0")) for each in root.iter(f"{SVG}text"))
    assert lowest < float(root.get("height", "0"))
    assert root.get("viewBox") == f"0 0 400 {root.get('height')}"


def test_lines_of_text_do_not_overlap() -> None:
    """Each has a line's height of its own."""
    body = [each for each in drawn("rejected", "zh").iter(f"{SVG}text") if each.get("x") == "12"]
    heights = [float(each.get("y", "0")) for each in body]
    assert min(low - high for high, low in pairwise(heights)) >= 17


def test_texts_are_those_of_the_timeline() -> None:
    """They are text, to be selected and searched for, in the language that was asked for."""
    said = "\n".join(texts(drawn("runs", "zh")))
    assert "✓ 6 请求设备（Allocate）" in said
    assert "10:00:05.200 · plugin 调用记录" in said
    assert "device busy <&>" in " ".join(texts(drawn("rejected", "en")))


def test_what_is_hidden_in_a_message_or_a_name_is_seen() -> None:
    """XML takes no controls, and others take no room or turn a line around."""
    state = rejected((), f"{REFUSED} \x1b\u202e\u200b\ud800\nnext")
    timeline = replace(Timeline.of(state), pod="p\x00\u200b")
    root = ET.fromstring(picture(timeline, "en"))  # noqa: S314 - our own
    assert "␛\\u202e\\u200b\\ud800 next" in " ".join(texts(root))
    assert "p␀\\u200b" in str(root.findtext(f"{SVG}title"))


@pytest.mark.parametrize(("language", "code"), [("en", "en"), ("zh", "zh-CN")])
def test_picture_says_what_it_is(language: Language, code: str) -> None:
    """To who cannot see it."""
    root = drawn("runs", language)
    assert root.get("role") == "img"
    assert root.get("{http://www.w3.org/XML/1998/namespace}lang") == code
    assert "default/p" in str(root.findtext(f"{SVG}title"))


def test_picture_needs_nothing_from_elsewhere() -> None:
    """Neither scripts nor fonts nor addresses, but that of its own kind of document."""
    document = picture(Timeline.of(running()), "en")
    assert re.findall(r"https?://[^\"\s]+", document) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<script|href|@import|url\(", document)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, by WCAG 2."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("dark", [False, True])
def test_texts_can_be_read_in_either_theme(*, dark: bool) -> None:
    """With a contrast of 4.5 to 1, also the numbers on their dots."""
    style = str(drawn("runs", "en").findtext(f"{SVG}style"))
    light, _, other = style.partition("@media (prefers-color-scheme: dark)")
    rules = dict(
        re.findall(r"([^{}]+?) \{ (?:fill|stroke): (#[0-9a-f]{6}); \}", other if dark else light)
    )
    colours = {name.strip(): colour for name, colour in rules.items()}
    paper = luminance(colours[".paper, .number"])
    for name, colour in colours.items():
        if name not in {".paper, .number", ".lane"}:
            dim, bright = sorted((paper, luminance(colour)))
            assert (bright + 0.05) / (dim + 0.05) >= 4.5, name
