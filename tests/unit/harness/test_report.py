"""The page of a run, read as the HTML that it is."""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lab.core.errors import UsageError
from lab.harness.report import page
from lab.harness.report.words import words
from lab.harness.results import Found, results_in
from tests.unit.harness.reported import ATTACK, BIG, passed, write_run, written_page

#: Elements that have no end.
VOID = {"meta", "input"}


class Reader(HTMLParser):
    """Reads a page: its elements, and the text that is in each class or tag of those."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that is empty, as there are in SVG."""
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Note the end of an element: it has to be that of the innermost one."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note a text by the element that it is in."""
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of each element of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def text(tmp_path: Path) -> str:
    """Return the page of the made-up run."""
    return written_page(tmp_path)


@pytest.fixture
def read(text: str) -> Reader:
    """Return it, read."""
    return Reader(text)


def rows(text: str) -> Iterator[list[str]]:
    """Yield the rows of the table, as they are read."""
    for row in re.findall(r"<tr class=.*?</tr>", text, re.DOTALL):
        yield [re.sub(r"<.*?>", "", cell) for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)]


def test_table_has_every_test_in_the_order_in_which_they_began(text: str) -> None:
    """With verdict, title, section, seconds, backend and version; an ID stands for a title."""
    first, second, third = rows(text)
    title = "A pod that asks for too much stays Pending"
    assert first == ["✓ passed", title, "4.10.5", "2.5", "kind", "v1.36.3"]
    name = "tests/test_x.py::test_it[a b]"
    assert second == ["✗ failed", name, "-", "70.0", "existing", "v1.35.0"]
    assert (third[0], third[4:]) == ("- skipped", ["-", "-"])


def test_every_element_ends(read: Reader) -> None:
    """And those that are open last first: nothing that is shown ends one of the page's own."""
    assert read.open == []


def test_what_is_shown_makes_no_elements(read: Reader) -> None:
    """The page has one script and no pictures that are loaded, whatever logs and names hold."""
    assert len(read.of("script")) == 1
    assert read.of("img") == []
    assert ATTACK in "".join(read.texts["pre"])


def test_page_leads_to_nothing_that_is_not_beside_it(read: Reader) -> None:
    """No address but those of places in the page, and of the evidence's files."""
    assert not {"link", "iframe", "object", "base"} & {tag for tag, _ in read.elements}
    assert [each for _, each in read.elements if "src" in each] == []
    targets = {str(each["href"]) for each in read.of("a")}
    folder = "tests-test_x"
    files = {f"{folder}/{each}" for each in ("", "pods.json", "plugins/w.log", BIG)}
    assert targets == {"#t1", "#t2", "#t3"} | files


def test_styles_load_nothing(text: str) -> None:
    """Of all addresses there is the name of a kind of document."""
    styles = "".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
    assert not re.search(r"url\(|@import|src:", styles)
    assert set(re.findall(r"https?://[^\s\"<]+", text)) == {"http://www.w3.org/2000/svg"}


def test_top_says_what_failed_and_how_to_run_it_again(text: str) -> None:
    """Before anything else."""
    top = text.partition("<fieldset")[0]
    for said in ("✗ 1 failed", "✓ 1 passed", "- 1 skipped", "2026-12-01 12:00 to 2026-12-01 12:01"):
        assert said in top
    assert "UTC · existing, kind · Kubernetes v1.35.0, v1.36.3<" in top
    again = "pytest &#39;tests/test_x.py::test_it[a b]&#39; &#39;--lab-kubeconfig=their config&#39;"
    assert again in top


def test_run_in_which_nothing_failed_has_no_such_part(tmp_path: Path) -> None:
    """There is nothing to run again."""
    text = page([Found(tmp_path, passed())], "en", tmp_path)
    assert words("en")["what_failed"] not in text
    assert "✗" not in text
    assert '<span><span class="verdict">0 failed</span></span>' in text
    assert "gpulab run oversubscription --name a-lab<" in text


def test_evidence_that_cannot_be_shown_is_told(text: str) -> None:
    """One that is gone, and what could not be had at all."""
    assert "<code>gone.log</code>: cannot be shown: No such file or directory" in text
    assert "kubelets/w.log: ApiFailed: gone" in text


def test_link_and_pipe_among_the_evidence_are_not_followed(tmp_path: Path) -> None:
    """A pipe would never end."""
    folder = write_run(tmp_path)
    (folder / "pods.json").unlink()
    (folder / "pods.json").symlink_to("/etc/hostname")
    (folder / BIG).unlink()
    (folder / BIG).mkdir()
    (folder / "gone.log").symlink_to("gone.log")
    text = page(results_in(tmp_path), "en", tmp_path)
    assert "<code>pods.json</code>: cannot be shown: not in the folder of the test" in text
    assert f"<code>{BIG}</code>: cannot be shown: not a file" in text
    assert re.search(
        r"<code>gone.log</code>: cannot be shown: (Symlink loop|Too many levels)", text
    )


def test_link_to_a_folder_whose_name_is_no_text_leads_there(tmp_path: Path) -> None:
    """A file system takes any bytes."""
    folder = tmp_path / os.fsdecode(b"\xff")
    replace(passed(), files=("a.log",)).write(folder)
    (folder / "a.log").touch()
    text = page(results_in(tmp_path), "en", tmp_path)
    assert 'href="%FF/"' in text
    assert 'href="%FF/a.log"' in text


def test_long_log_is_cut_and_its_whole_is_named(text: str) -> None:
    """Five megabytes of it would not be read on a phone."""
    assert len(text) < 400_000
    assert "first line\n" in text
    assert "last line\n" in text
    left_out = (
        r"… 4,9\d\d,\d\d\d bytes are left out here; all of it is in <code>tests-test_x/big.log"
    )
    assert re.search(left_out, text)


def test_timelines_are_drawn_and_told(read: Reader) -> None:
    """Each as a picture, and as text."""
    assert len(read.of("svg")) == 3
    assert "".join(read.texts["pre"]).count("sees its devices") == 3


def test_page_is_in_the_language_that_is_asked_for(tmp_path: Path) -> None:
    """Its own words, titles and timelines, not what clusters say."""
    text = written_page(tmp_path, "zh")
    assert '<html lang="zh-CN">' in text
    assert [each[:2] for each in rows(text)] == [
        ["✓ 通过", "超额申请"],
        ["✗ 失败", "tests/test_x.py::test_it[a b]"],
        ["- 跳过", "节点重启"],
    ]
    assert "扫描节点上的卡" in text
    assert "What failed" not in text


def test_links_lead_from_where_the_page_is(tmp_path: Path) -> None:
    """The page may be written into another folder, and names are written as addresses are."""
    run = tmp_path / "a run"
    write_run(run)
    text = page(results_in(run), "en", tmp_path / "pages")
    assert 'href="../a%20run/tests-test_x/pods.json"' in text


def test_timeline_that_is_none_is_refused(tmp_path: Path) -> None:
    """A page that leaves it out would tell half of it."""
    result = passed()
    found = Found(tmp_path / "x", result)
    object.__setattr__(result, "timelines", ({"pod": "p"},))
    with pytest.raises(UsageError) as raised:
        page([found], "en", tmp_path)
    assert raised.value.what == "a timeline of a result cannot be read"
    assert raised.value.where == str(tmp_path / "x" / "result.json")
    assert raised.value.seen.splitlines()[0] == "namespace: Field required"
