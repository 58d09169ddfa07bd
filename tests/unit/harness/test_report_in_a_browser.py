"""The page of a run as a browser shows it, on a phone and by either theme."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from lab.harness.report import page
from lab.harness.results import results_in
from tests.unit.harness.browser import Tab, program, tab
from tests.unit.harness.reported import write_run

if TYPE_CHECKING:
    from lab.core.language import Language

PHONE: Final = 360
DESK: Final = 1280
WIDTHS: Final = pytest.mark.parametrize("width", [PHONE, DESK])
THEMES: Final = pytest.mark.parametrize("theme", ["light", "dark"])

OPEN_ALL: Final = "document.querySelectorAll('details').forEach(each => { each.open = true; })"
#: What reaches over the edge of the window, by its place in the page.
TOO_WIDE: Final = """
[...document.body.querySelectorAll('*')]
  .filter(each => each.getBoundingClientRect().right > innerWidth + 0.5)
  .map(each => each.outerHTML.slice(0, 80))
"""
#: On how many lines each head of the table is, which are words of their own all.
HEAD_LINES: Final = """
[...document.querySelectorAll('th')].map(each => {
  const text = document.createRange();
  text.selectNodeContents(each);
  return text.getClientRects().length;
})
"""
#: Every text that is seen, with how well it is told from what is behind it, by WCAG 2.
CONTRASTS: Final = """
(() => {
  const parts = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = colour => {
    const [red, green, blue] = parts(colour).slice(0, 3).map(each => each / 255)
      .map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = each => {
    if (each.tagName === 'text') {
      const dot = each.classList.contains('number') && each.parentElement.querySelector('.dot');
      return getComputedStyle(dot || each.closest('svg').querySelector('.paper')).fill;
    }
    const colour = getComputedStyle(each).backgroundColor;
    return parts(colour)[3] === 0 ? behind(each.parentElement) : colour;
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const own = walk.currentNode.parentElement, said = walk.currentNode.data.trim();
    if (!said || !own.checkVisibility() || !own.getClientRects().length) continue;
    const style = getComputedStyle(own);
    const ink = light(own.tagName === 'text' ? style.fill : style.color);
    const paper = light(behind(own));
    found.push([said.slice(0, 40),
      (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)]);
  }
  return found;
})()
"""
#: The colours of a screenshot, and how many points have each.
COLOURS: Final = """
(async () => {
  const image = new Image();
  image.src = 'data:image/png;base64,%s';
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
  canvas.drawImage(image, 0, 0);
  const points = canvas.getImageData(0, 0, image.width, image.height).data;
  const found = {};
  for (let at = 0; at < points.length; at += 4) {
    const name = points.slice(at, at + 3).join(' ');
    found[name] = (found[name] || 0) + 1;
  }
  return found;
})()
"""
SHOWN: Final = """
[...document.querySelectorAll('section.test')]
  .filter(each => each.checkVisibility()).map(each => each.id)
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """Return a tab of a browser that all tests here have in common."""
    program()
    with tab(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the page of the made-up run in both languages."""
    root = tmp_path_factory.mktemp("run")
    write_run(root)
    languages: tuple[Language, ...] = ("en", "zh")
    for each in languages:
        (root / f"{each}.html").write_text(page(results_in(root), each, root), encoding="utf-8")
    return root


@WIDTHS
@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_is_wider_than_the_window(
    browser: Tab, run_folder: Path, width: int, language: str
) -> None:
    """With everything open: what is long has a box of its own, or is broken."""
    browser.show(run_folder / f"{language}.html", width)
    browser.tell(OPEN_ALL)
    assert browser.tell("innerWidth") == width
    assert browser.tell("document.documentElement.scrollWidth") == width
    assert browser.tell(TOO_WIDE) == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_head_of_the_table_breaks_inside_a_word(
    browser: Tab, run_folder: Path, language: str
) -> None:
    """However long the words below it are."""
    browser.show(run_folder / f"{language}.html", DESK)
    assert browser.tell(HEAD_LINES) == [1] * 6


@THEMES
def test_every_text_can_be_read(browser: Tab, run_folder: Path, theme: str) -> None:
    """With a contrast of 4.5 to 1, the texts of the pictures as well."""
    browser.show(run_folder / "en.html", PHONE, theme)
    browser.tell(OPEN_ALL)
    found = browser.tell(CONTRASTS)
    said = {text for text, _ in found}
    assert {"✗ failed", "✓ 6 asks for devices (Allocate)", "6", "first line"} <= {
        each.partition("\n")[0] for each in said
    }
    assert [each for each in found if each[1] < 4.5] == []


@pytest.mark.parametrize(
    ("theme", "paper", "done"),
    [("light", "255 255 255", "26 127 55"), ("dark", "13 17 23", "63 185 80")],
)
def test_picture_is_on_the_screenshot(
    browser: Tab, run_folder: Path, theme: str, paper: str, done: str
) -> None:
    """Its arrows are seen in the colours of the theme, on paper that fills most of the window."""
    browser.show(run_folder / "en.html", PHONE, theme)
    browser.tell(OPEN_ALL)
    browser.tell("document.querySelector('#t1 svg').scrollIntoView()")
    taken = browser.screenshot()
    # The page itself lets no picture be loaded.
    browser.call("Page.navigate", url="about:blank")
    colours = browser.tell(COLOURS % taken)
    assert colours[done] > 500
    assert colours[paper] > sum(colours.values()) / 2


def test_what_failed_is_open_and_the_rest_opens_at_a_click(browser: Tab, run_folder: Path) -> None:
    """A reader sees first what there is to be done."""
    browser.show(run_folder / "en.html", PHONE)
    drawn = "document.querySelector('{} svg').checkVisibility()"
    assert browser.tell(drawn.format("#t2")) is True
    assert browser.tell(drawn.format("#t1")) is False
    browser.tell("document.querySelector('#t1 summary').click()")
    assert browser.tell(drawn.format("#t1")) is True


def test_page_loads_nothing_and_runs_nothing_of_a_log(browser: Tab, run_folder: Path) -> None:
    """Scripts in logs and names stay the text that they are; the policy had nothing to stop."""
    browser.show(run_folder / "en.html", DESK)
    browser.tell(OPEN_ALL)
    asked = [each["request"]["url"] for each in browser.seen("Network.requestWillBeSent")]
    assert asked == [(run_folder / "en.html").as_uri()]
    assert browser.tell("document.title") == "gpu-lab: What came of the tests"
    assert browser.seen("Page.javascriptDialogOpening") == []
    assert browser.seen("Log.entryAdded") == []


def test_policy_stops_what_would_get_past_the_engine(browser: Tab, run_folder: Path) -> None:
    """A script or a picture that stood in the page all the same would not run, or be loaded."""
    text = (run_folder / "en.html").read_text(encoding="utf-8")
    attack = "<script>document.title = 'taken'</script><img src='http://127.0.0.1:9/x.png'>"
    file = run_folder / "attacked.html"
    file.write_text(text.replace("</body>", f"{attack}</body>"), encoding="utf-8")
    browser.show(file, DESK)
    assert browser.tell("document.title") != "taken"
    stopped = [each["entry"]["text"] for each in browser.seen("Log.entryAdded")]
    assert [each for each in ("script-src", "default-src") if each in " ".join(stopped)] == [
        "script-src",
        "default-src",
    ]


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize(
    ("only", "shown"),
    [("failed", ["t2"]), ("passed", ["t1"]), ("skipped", ["t3"]), ("all", ["t1", "t2", "t3"])],
)
def test_one_verdict_alone_can_be_shown(
    browser: Tab, run_folder: Path, only: str, shown: list[str], *, scripts: bool
) -> None:
    """In the table and below it, also where scripts are not allowed."""
    browser.show(run_folder / "en.html", PHONE, scripts=scripts)
    browser.tell(f"document.getElementById('only-{only}').click()")
    assert browser.tell(SHOWN) == shown
    assert browser.tell(SHOWN.replace("section.test", "tr.test").replace(".id", ".rowIndex")) == [
        int(each[1:]) for each in shown
    ]


@pytest.mark.parametrize(
    ("words", "shown"),
    [(" TOO much", ["t1"]), ("test_it[a", ["t2"]), ("v1.3", ["t1", "t2"]), ("节点", ["t3"])],
)
def test_tests_are_found_by_words(
    browser: Tab, run_folder: Path, words: str, shown: list[str]
) -> None:
    """In either case, and in the language of the other page too."""
    browser.show(run_folder / "en.html", DESK)
    browser.tell("document.getElementById('find').focus()")
    browser.call("Input.insertText", text=words)
    assert browser.tell(SHOWN) == shown


def test_field_that_needs_a_script_is_not_there_without(browser: Tab, run_folder: Path) -> None:
    """Nothing on the page does nothing."""
    field = "document.getElementById('find').checkVisibility()"
    for scripts in (True, False):
        browser.show(run_folder / "en.html", PHONE, scripts=scripts)
        assert browser.tell(field) is scripts
