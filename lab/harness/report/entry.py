"""One test as a page tells of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from os import fsencode
from os.path import relpath
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup
from pydantic import ValidationError

from lab.core.errors import UsageError
from lab.core.language import Language
from lab.harness.report.again import commands
from lab.harness.report.excerpt import Excerpt
from lab.harness.results import RESULT, Found, Result, problems
from lab.harness.timeline import Timeline
from lab.harness.timeline.picture import picture
from lab.harness.timeline.stored import timeline_from
from lab.harness.timeline.text import lines


@dataclass(frozen=True)
class Drawing:
    """The timeline of a pod: its headline, as a picture, and as text."""

    headline: str
    picture: Markup
    text: str


@dataclass(frozen=True)
class Exhibit:
    """A file of the evidence, where it is for a browser, and what it says.

    Of one that cannot be shown, `problem` says why.
    """

    file: str
    link: str
    said: Excerpt
    problem: str = ""


@dataclass(frozen=True)
class Entry:
    """A test; `anchor` is where it is in the page, `folder` where its files are from there."""

    anchor: str
    result: Result
    title: str
    folder: str
    link: str
    again: tuple[str, ...]
    report: Excerpt
    drawings: tuple[Drawing, ...]
    exhibits: tuple[Exhibit, ...]

    @classmethod
    def of(cls, number: int, found: Found, language: Language, home: Path) -> "Entry":
        """Make the entry of the `number`-th test for a page in the folder `home`.

        Raises `UsageError` where a timeline of it cannot be read.
        """
        result = found.result
        folder = relpath(found.folder, home)
        return cls(
            anchor=f"t{number}",
            result=result,
            title=result.titles.get(language) or result.test,
            folder=folder,
            link=_link(found.folder, home),
            again=tuple(commands([result])),
            report=Excerpt.of_text(result.report),
            drawings=tuple(_drawings(found, language)),
            exhibits=tuple(_exhibits(found, home)),
        )

    @property
    def words(self) -> str:
        """Return what the test can be found by."""
        own = self.result
        said = (own.test, *own.titles.values(), own.section, own.backend, own.kubernetes)
        return " ".join(said).lower()


def _drawings(found: Found, language: Language) -> Iterator[Drawing]:
    for each in found.result.timelines:
        try:
            timeline = timeline_from(each)
        except ValidationError as error:
            raise UsageError(
                "a timeline of a result cannot be read",
                where=str(found.folder / RESULT),
                seen="\n".join(problems(error)),
                remedy="run the test again with this gpu-lab, or remove the folder",
            ) from error
        yield _drawing(timeline, language)


def _drawing(timeline: Timeline, language: Language) -> Drawing:
    headline, *_ = text = [*lines(timeline, language)]
    # XML made of a tree: what it says is escaped.
    drawn = Markup(picture(timeline, language))  # noqa: S704 - see above
    return Drawing(headline, drawn, "\n".join(text))


def _exhibits(found: Found, home: Path) -> Iterator[Exhibit]:
    for file in found.result.files:
        path = found.folder / file
        try:
            said = _said(path, found.folder)
        # Python up to 3.12 has its own error for a link that leads to itself.
        except (OSError, RuntimeError) as error:
            problem = getattr(error, "strerror", None) or str(error)
            yield Exhibit(file, "", Excerpt(""), problem)
        else:
            yield Exhibit(file, _link(path, home), said)


def _said(path: Path, folder: Path) -> Excerpt:
    # A link that leads elsewhere would show files that are nobody's evidence.
    if not path.resolve().is_relative_to(folder.resolve()):
        raise OSError("not in the folder of the test")
    if path.exists() and not path.is_file():
        raise OSError("not a file")
    return Excerpt.of_file(path)


def _link(path: Path, home: Path) -> str:
    """Return where a browser finds it from a page in the folder `home`: a name may be any bytes."""
    return quote(fsencode(relpath(path, home)))
