"""A run that is made up: one test of each verdict, and evidence that nobody would want to meet."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from lab.core.language import Language
from lab.harness.report import page
from lab.harness.results import Result, results_in
from lab.harness.timeline.timeline import Timeline
from tests.unit.harness.timeline.observed import pending, rejected, running

START: Final = datetime(2026, 12, 1, 12, tzinfo=UTC)
ATTACK: Final = (
    "</pre></script><script>document.title = 'taken'</script><img src=x onerror=alert(1)>"
)
REFUSED: Final = rejected((), f"{ATTACK} \x00\x1b")
LONG_WORD: Final = "0123456789" * 40
BIG: Final = "big.log"


def passed() -> Result:
    """Return a scenario that held."""
    return Result(
        run="a-run",
        test="001-oversubscription",
        verdict="passed",
        started=START,
        seconds=2.46,
        titles={"en": "A pod that asks for too much stays Pending", "zh": "超额申请"},
        section="4.10.5",
        backend="kind",
        kubernetes="v1.36.3",
        timelines=(Timeline.of(running()).as_json(), Timeline.of(pending()).as_json()),
        options=("--name", "a-lab"),
    )


def failed() -> Result:
    """Return a test of pytest that failed, with all that makes a page hard."""
    return Result(
        run="a-run",
        test="tests/test_x.py::test_it[a b]",
        verdict="failed",
        started=START + timedelta(seconds=10),
        seconds=70,
        titles={},
        section="",
        backend="existing",
        kubernetes="v1.35.0",
        report=f"pod p: expected to run\n{ATTACK}\n{LONG_WORD}\n\x1b[31mred\u202e",
        timelines=(Timeline.of(REFUSED).as_json(),),
        files=(
            "pods.json",
            "plugins/w.log",
            BIG,
            "gone.log",
            f"{LONG_WORD[:200]}.log",
        ),
        missing=("kubelets/w.log: ApiFailed: gone",),
        options=("--lab-kubeconfig=their config",),
    )


def skipped() -> Result:
    """Return a scenario for which no lab was made, so that its version is not known."""
    return Result(
        run="a-run",
        test="003-node_restart",
        verdict="skipped",
        started=START + timedelta(seconds=90),
        seconds=0,
        titles={"en": f"A node {ATTACK} {LONG_WORD}", "zh": "节点重启"},
        section="4.7",
        backend="",
        kubernetes="",
        report="the backend existing cannot restart_node here",
    )


def write_run(root: Path) -> Path:
    """Write the run below `root`, and return the folder of the test that failed."""
    folder = root / "tests-test_x"
    for name, result in (("001", passed()), (folder.name, failed()), ("003", skipped())):
        result.write(root / name)
    (folder / "plugins").mkdir()
    (folder / "pods.json").write_text('[{"name": "<b>p</b>"}]\n')
    (folder / "plugins" / "w.log").write_bytes(b"\xff\xfe not UTF-8 \x00\x07\r\n" + ATTACK.encode())
    line = f"{ATTACK} {LONG_WORD}\n"
    (folder / BIG).write_text("first line\n" + line * (5_000_000 // len(line)) + "last line\n")
    return folder


def written_page(root: Path, language: Language = "en") -> str:
    """Write the run below `root`, and return its page."""
    write_run(root)
    return page(results_in(root), language, root)
