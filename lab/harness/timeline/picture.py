"""A timeline as a picture: one lane for each who acts, one arrow for each step.

SVG by itself, without scripts, fonts or anything from elsewhere; its texts can be selected. It is
as wide as a phone, and goes by the reader's light or dark theme.
"""

from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree as ET

from lab.core.language import Language
from lab.core.visible import visible
from lab.harness.timeline.step import Step
from lab.harness.timeline.timeline import Timeline
from lab.harness.timeline.width import wrapped
from lab.harness.timeline.words import ACTORS, MARKS, OUTCOMES, PRECISION, SOURCES, headline

_NAMESPACE: Final = "http://www.w3.org/2000/svg"
_WIDTH: Final = 400
_MARGIN: Final = 12
_LINE: Final = 17
#: What fits between the margins with the widest letters of a text of 12 pixels.
_COLUMNS: Final = 54
_STRIP: Final = 30
_RADIUS: Final = 9
_BLANKS: Final = str.maketrans("\t\n", "  ")


@dataclass(frozen=True)
class _Theme:
    """The colours of a theme; text on its paper is readable by WCAG's 4.5 to 1."""

    paper: str
    ink: str
    faint: str
    lane: str
    done: str
    failed: str
    waiting: str

    def rules(self) -> str:
        """Return the rules that give its colours to the shapes."""
        hues = {
            "done": self.done,
            "failed": self.failed,
            "waiting": self.waiting,
            "never": self.faint,
            "unknown": self.faint,
        }
        shapes = (
            f".{outcome} .arrow {{ stroke: {hue}; }} "
            f".{outcome} .tip, .{outcome} .dot {{ fill: {hue}; }}"
            for outcome, hue in hues.items()
        )
        return "\n".join(
            (
                f".paper, .number {{ fill: {self.paper}; }} .lane {{ stroke: {self.lane}; }}",
                f".head, .title, .detail {{ fill: {self.ink}; }} .faint {{ fill: {self.faint}; }}",
                *shapes,
            )
        )


_LIGHT: Final = _Theme("#ffffff", "#1f2328", "#59636e", "#d1d9e0", "#1a7f37", "#cf222e", "#9a6700")
_DARK: Final = _Theme("#0d1117", "#f0f6fc", "#9198a1", "#3d444d", "#3fb950", "#f85149", "#d29922")
#: Without variables: not every program that shows SVG knows them.
_STYLE: Final = f"""
svg {{ max-width: 100%; height: auto; font: 12px sans-serif; }}
.head {{ font-size: 11px; text-anchor: middle; }}
.title, .number {{ font-weight: bold; }} .number {{ text-anchor: middle; }}
.arrow {{ stroke-width: 2; }}
.waiting .arrow, .never .arrow, .unknown .arrow {{ stroke-dasharray: 4 3; }}
{_LIGHT.rules()}
@media (prefers-color-scheme: dark) {{
{_DARK.rules()}
}}
"""


def picture(timeline: Timeline, language: Language) -> str:
    """Return the picture as a document."""
    return _Drawing(timeline, language).document()


class _Drawing:
    """Draws from the top to the bottom; `y` is how far it has come."""

    def __init__(self, timeline: Timeline, language: Language) -> None:
        self._timeline = timeline
        self._language = language
        self._root = ET.Element("svg", {"xmlns": _NAMESPACE, "role": "img"})
        space = (_WIDTH - 2 * _MARGIN) / len(ACTORS)
        self._lanes = {
            actor: round(_MARGIN + space * (number + 0.5)) for number, actor in enumerate(ACTORS)
        }
        self._y = _MARGIN

    def document(self) -> str:
        """Return the whole."""
        self._root.set("xml:lang", "en" if self._language == "en" else "zh-CN")
        title = headline(self._timeline).text(self._language)
        ET.SubElement(self._root, "title").text = _on_one_line(title)
        ET.SubElement(self._root, "style").text = _STYLE
        paper = self._shape("rect", "paper", x=0, y=0, width=_WIDTH)
        self._lines(title, "title")
        self._lines(f"{self._timeline.day.date()}. {PRECISION.text(self._language)}", "faint")
        self._heads()
        for step in self._timeline.steps:
            self._step(step)
        height = str(self._y + _MARGIN)
        paper.set("height", height)
        size = {"width": str(_WIDTH), "height": height, "viewBox": f"0 0 {_WIDTH} {height}"}
        self._root.attrib.update(size)
        ET.indent(self._root)
        return ET.tostring(self._root, encoding="unicode") + "\n"

    def _heads(self) -> None:
        self._y += _LINE + 4
        for actor, x in self._lanes.items():
            name = self._shape("text", "head", x=x, y=self._y)
            name.text = ACTORS[actor].text(self._language)
        self._y += 6

    def _step(self, step: Step) -> None:
        group = ET.SubElement(self._root, "g", {"class": step.outcome})
        middle = self._y + _STRIP // 2
        for x in self._lanes.values():
            ends = {"x1": x, "x2": x, "y1": self._y, "y2": self._y + _STRIP}
            self._shape("line", "lane", group, **ends)
        start, end = self._lanes[step.kind.actor], self._lanes[step.kind.to]
        if start != end:
            self._arrow(group, start, end, middle)
        self._shape("circle", "dot", group, cx=start, cy=middle, r=_RADIUS)
        number = self._shape("text", "number", group, x=start, y=middle + 4)
        number.text = str(step.number)
        self._y += _STRIP
        self._texts(step)

    def _arrow(self, group: ET.Element, start: int, end: int, y: int) -> None:
        back = end - 8 if end > start else end + 8
        self._shape("line", "arrow", group, x1=start, x2=back, y1=y, y2=y)
        tip = ET.SubElement(group, "polygon", {"class": "tip"})
        tip.set("points", f"{end},{y} {back},{y - 5} {back},{y + 5}")

    def _texts(self, step: Step) -> None:
        language = self._language
        title = step.kind.title.text(language)
        self._lines(f"{MARKS[step.outcome]} {step.number} {title}", "title")
        outcome = "" if step.outcome == "done" else OUTCOMES[step.outcome].text(language)
        time = "" if step.moment.at is None else step.moment.text(self._timeline.day)
        source = SOURCES[step.source].text(language)
        self._lines(" · ".join(filter(None, (time, outcome, source))), "faint")
        self._lines(step.detail.text(language), "detail")
        self._y += 6

    def _lines(self, text: str, style: str) -> None:
        for line in wrapped(_on_one_line(text), _COLUMNS):
            self._y += _LINE
            self._shape("text", style, x=_MARGIN, y=self._y).text = line

    def _shape(
        self, tag: str, style: str, parent: ET.Element | None = None, **attributes: int
    ) -> ET.Element:
        given = {"class": style, **{key: str(value) for key, value in attributes.items()}}
        return ET.SubElement(self._root if parent is None else parent, tag, given)


def _on_one_line(text: str) -> str:
    """Return a text without what XML does not take: a message may hold anything."""
    return visible(text).translate(_BLANKS)
