"""The page itself."""

from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lab.core.language import Language
from lab.core.visible import visible
from lab.harness.report.entry import Entry
from lab.harness.report.summary import Summary
from lab.harness.report.words import words
from lab.harness.results import Found

_TEMPLATES: Final = "templates"
_MARKS: Final = {"passed": "✓", "failed": "✗", "skipped": "-"}
_CODES: Final = {"en": "en", "zh": "zh-CN"}


def page(found: Sequence[Found], language: Language, home: Path, *, left_out: int = 0) -> str:
    """Return the page of some results, which leads to their files from the folder `home`.

    It says that `left_out` results of earlier runs are not on it.
    Raises `UsageError` where a timeline of a result cannot be read.
    """
    entries = [Entry.of(number, each, language, home) for number, each in enumerate(found, 1)]
    script = _own("page.js")
    return (
        _environment()
        .get_template("page.html")
        .render(
            code=_CODES[language],
            words=words(language),
            summary=Summary.of([each.result for each in found]),
            left_out=left_out,
            entries=entries,
            style=_own("page.css"),
            script=script,
            policy=_policy(script),
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("lab.harness.report", _TEMPLATES),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["minute"] = _minute
    environment.globals["marks"] = _MARKS
    return environment


def _shown(found: object) -> object:
    """Return what is shown of a value: of a text that others wrote, all there is in it."""
    return found if isinstance(found, Markup) or not isinstance(found, str) else visible(found)


def _own(name: str) -> Markup:
    """Return a file of our own that goes into the page as it is."""
    file = resources.files("lab.harness.report") / _TEMPLATES / name
    return Markup(file.read_text(encoding="utf-8"))  # noqa: S704 - nobody else has a word in it


def _policy(script: str) -> str:
    """Return what a browser is to allow: this script, styles that stand in the page, no more."""
    known = b64encode(sha256(script.encode()).digest()).decode()
    allowed = ("default-src 'none'", "style-src 'unsafe-inline'", f"script-src 'sha256-{known}'")
    return "; ".join((*allowed, "base-uri 'none'", "form-action 'none'"))


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}"
