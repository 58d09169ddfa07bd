"""What is kept of a test that has failed: all that can be had, and no secret."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.core.errors import Interrupted, NotReady
from lab.harness import recording
from lab.harness.evidence import Evidence, begun, collect, collecting
from lab.harness.evidence.named import REMOVED
from lab.harness.evidence.sources import Source, sources
from lab.harness.lab import Lab
from lab.harness.recording import Case, Recording
from lab.harness.results import results_in
from lab.harness.run import Run
from tests.unit.harness.cluster import a_pod, running

if TYPE_CHECKING:
    from pydantic import JsonValue

    from lab.cluster.objects import Pod

TOKEN = "s3cret-of-the-lab"  # noqa: S105 - no one's
SINCE = datetime(2026, 12, 1, tzinfo=UTC)


def a_lab() -> Lab:
    """Return what `collect` itself asks of a lab."""
    folder = SimpleNamespace(known_token=lambda: TOKEN, kubeconfig=Path("/state/my lab/kubeconfig"))
    running = SimpleNamespace(folder=folder, record=SimpleNamespace(backend="kind"))
    pods = (SimpleNamespace(name="greedy", namespace="ns"),)
    nodes = SimpleNamespace(all=lambda: [SimpleNamespace(version="v1.36.3")])
    found = SimpleNamespace(
        running=running,
        name="t",
        namespace="ns",
        pods=lambda: pods,
        serves=lambda pod: True,  # noqa: ARG005 - named so
        clock=SimpleNamespace(moment=lambda: SINCE, now=lambda: 0.0),
        view=SimpleNamespace(nodes=nodes),
    )
    return cast("Lab", found)


def collected(lab: Lab, test: str, failure: str, since: datetime, root: Path) -> Evidence:
    """Return what is kept of a test."""
    kept = begun(test, root)
    collect(kept, lab, failure, since)
    return kept


def failing() -> str:
    """Fail as a node does that has gone."""
    raise OSError(f"connection refused to {TOKEN}")


@pytest.fixture
def gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be a file that can be had, one with a secret in it, and one that cannot be had."""
    found = (
        Source("pods.json", lambda: "[]"),
        Source("plugins/w.log", lambda: f"token {TOKEN} in a log"),
        Source("kubelets/w.log", failing),
    )
    monkeypatch.setattr(collecting, "sources", lambda lab, since: found)  # noqa: ARG005


@pytest.mark.usefixtures("gathered")
def test_what_can_be_had_is_written(tmp_path: Path) -> None:
    """In a folder with the test's name, the failure first."""
    kept = collected(a_lab(), "tests/test_x.py::test_y[a b]", "it failed", SINCE, tmp_path)
    assert kept.folder == tmp_path / "tests-test_x.py-test_y-a-b-9f95caf7"
    assert kept.files == ["failure.txt", "look.sh", "pods.json", "plugins/w.log"]
    assert (kept.folder / "failure.txt").read_text() == "it failed\n"


def test_what_is_no_character_is_written_as_an_escape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file's name may be any bytes, and stands in what is said of it: text, JSON, the failure."""
    found = (
        Source("w.log", lambda: "no \udcff"),
        Source("pods.json", lambda: [{"a": "no \udcff"}]),
    )
    monkeypatch.setattr(collecting, "sources", lambda lab, since: found)  # noqa: ARG005
    folder = collected(a_lab(), "test", "no \udcff", SINCE, tmp_path).folder
    assert (folder / "failure.txt").read_text(encoding="utf-8") == "no \\udcff\n"
    assert (folder / "w.log").read_text(encoding="utf-8") == "no \\udcff\n"
    assert json.loads((folder / "pods.json").read_bytes()) == [{"a": "no \\udcff"}]


@pytest.mark.usefixtures("gathered")
def test_what_cannot_be_had_is_told(tmp_path: Path) -> None:
    """And keeps nothing else from being written."""
    kept = collected(a_lab(), "test", "it failed", SINCE, tmp_path)
    assert kept.missing == [f"kubelets/w.log: OSError: connection refused to {REMOVED}"]
    assert (kept.folder / "missing.txt").read_text() == f"{kept.missing[0]}\n"


@pytest.mark.parametrize(
    ("ends", "how"),
    [
        (Interrupted("interrupted by SIGINT"), "interrupted by SIGINT"),
        (KeyboardInterrupt("SIGTERM"), "SIGTERM"),
        (KeyboardInterrupt(), "Ctrl-C"),
    ],
)
def test_evidence_that_is_broken_off_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: BaseException, how: str
) -> None:
    """Who asks for an end gets it; what was gathered stays, and is told of in the result."""

    def interrupted() -> str:
        raise ends

    found = (Source("pods.json", lambda: "[]"), Source("nodes.json", interrupted))
    monkeypatch.setattr(collecting, "sources", lambda lab, since: found)  # noqa: ARG005
    kept = Recording(Case(Run(tmp_path, "a-run"), "test"), a_lab())
    with pytest.raises(type(ends)) as raised, kept.result():
        kept.failed("it failed")
    cut = f"whatever else there was: the gathering was broken off: {how}"
    (result,) = results_in(tmp_path)
    assert (result.folder / "missing.txt").read_text() == f"{cut}\n"
    assert (result.folder / "pods.json").read_text() == "[]\n"
    assert result.result.missing == (cut,)
    assert result.result.files == ("failure.txt", "look.sh", "pods.json")
    assert result.result.report == "it failed"
    told = f"the evidence in {result.folder} is not complete: see missing.txt there"
    assert raised.value.__notes__ == [told]


CUT = "(15 bytes are left out here, the rest of a line, and all that was printed before them)\n"


@pytest.mark.parametrize(
    ("log", "rotated", "kept"),
    [
        ("SWORD=hunter-22\nnext\n", False, "SWORD=hunter-22\nnext\n"),
        ("SWORD=hunter-22\nnext\n", True, f"{CUT}next\n"),
        ("SWORD=hunter-22", True, CUT),
        ("SWORD=hunter-22\n" + "next\n" * 1999, False, CUT + "next\n" * 1999),
        (
            "SWORD=hunter-22\n" + f"{'x' * 16384}\n" * 1000,
            False,
            CUT + f"{'x' * 16384}\n" * 1000,
        ),
        ("SWORD=hunter-22\n" + "next\n" * 1998, False, "SWORD=hunter-22\n" + "next\n" * 1998),
    ],
    ids=["whole", "rotated", "rotated-within-a-line", "tail", "tail-of-long-lines", "not-quite"],
)
def test_a_log_that_was_cut_begins_with_a_whole_line(log: str, rotated: bool, kept: str) -> None:  # noqa: FBT001 - a parameter
    """Whose secret the rest of a line is, nobody can tell; how much went is said."""
    lab: Any = a_lab()
    asked: list[object] = []

    def has_rotated(pod: "Pod", container: str) -> bool:
        asked.append((pod.name, container))
        return rotated

    client = SimpleNamespace(logs=lambda *_, **__: log, has_rotated=has_rotated)
    pod = replace(a_pod("plugin"), node="w", containers=(running("device-plugin"),))
    lab.running.client = client
    lab.view.plugins = SimpleNamespace(all=lambda: (pod,))
    lab.pods = lab.nodes = lambda *_: ()
    (source,) = (each for each in sources(lab, SINCE) if each.file == "plugins/w.log")
    assert source.read() == kept
    assert asked in ([], [("plugin", "device-plugin")])


@pytest.mark.usefixtures("gathered")
def test_the_labs_own_token_is_nowhere(tmp_path: Path) -> None:
    """Not even where a component has printed it."""
    kept = collected(a_lab(), "test", f"it failed with {TOKEN}", SINCE, tmp_path)
    texts = [file.read_text() for file in kept.folder.rglob("*") if file.is_file()]
    assert [text for text in texts if TOKEN in text] == []
    assert f"token {REMOVED} in a log\n" in texts


def test_the_labs_own_token_is_in_no_result(tmp_path: Path) -> None:
    """Of what has failed the page of the run has the text."""
    kept = Recording(Case(Run(tmp_path, "a-run"), "test"), a_lab())
    with pytest.raises(ValueError, match="refused"), kept.result():
        raise ValueError(f"refused: {TOKEN}")
    (found,) = results_in(tmp_path)
    assert found.result.report == f"refused: {REMOVED}"


@pytest.mark.usefixtures("gathered")
def test_the_first_error_of_a_test_is_its_report(tmp_path: Path) -> None:
    """What goes wrong with the cleaning up afterwards comes of it."""
    kept = Recording(Case(Run(tmp_path, "a-run"), "test"), a_lab())
    kept.failed("pod p does not run")
    with pytest.raises(ValueError, match="not as it was"), kept.result():
        raise ValueError("the lab is not as it was")
    (found,) = results_in(tmp_path)
    assert (found.result.verdict, found.result.report) == ("failed", "pod p does not run")


@pytest.mark.usefixtures("gathered")
def test_a_result_names_what_was_kept_and_what_could_not_be(tmp_path: Path) -> None:
    """Who reads the page of the run finds the one, and does not look for the other."""
    kept = Recording(Case(Run(tmp_path, "a-run"), "test"), a_lab())
    with kept.result():
        kept.failed("pod p does not run")
    (found,) = results_in(tmp_path)
    assert found.result.files == ("failure.txt", "look.sh", "pods.json", "plugins/w.log")
    assert found.result.missing == (f"kubelets/w.log: OSError: connection refused to {REMOVED}",)


def test_no_secret_is_in_the_timelines_of_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event's message may hold one; beside them the same timelines are in files of evidence."""
    said = f'it said "no" to {TOKEN}\nBearer abcdefghijklmnop0123'
    told = {"pod": "greedy", "steps": [{"number": 1, "facts": [said, 2.5, None]}]}
    timeline = SimpleNamespace(as_json=lambda: told)
    monkeypatch.setattr(recording, "timeline_of", lambda *_: timeline)
    kept = Recording(Case(Run(tmp_path, "a-run"), "test"), a_lab())
    with kept.result():
        kept.look()
    (found,) = results_in(tmp_path)
    clean = f'it said "no" to {REMOVED}\nBearer {REMOVED}'
    steps = [{"number": 1, "facts": [clean, 2.5, None]}]
    assert found.result.timelines == ({"pod": "greedy", "steps": steps},)


def test_timelines_are_of_the_time_that_the_lab_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be years from that of the machine."""
    clocks: list[object] = []

    def timeline_of(_lab: object, _namespace: str, _pod: str, clock: object) -> object:
        clocks.append(clock)
        return SimpleNamespace(as_json=dict)

    monkeypatch.setattr(recording, "timeline_of", timeline_of)
    lab = a_lab()
    Recording(Case(Run(tmp_path, "a-run"), "test"), lab).look()
    assert clocks == [lab.clock]


def test_timelines_are_of_the_first_pods_that_ask_for_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a pod without devices there is nothing to tell, and of thousands nobody reads."""
    monkeypatch.setattr(
        recording, "timeline_of", lambda *asked: SimpleNamespace(as_json=lambda: asked[2])
    )
    lab = a_lab()
    names = [f"p{number}" for number in range(12)]
    pods = tuple(SimpleNamespace(name=each, namespace="ns") for each in names)
    monkeypatch.setattr(lab, "pods", lambda: pods)
    monkeypatch.setattr(lab, "serves", lambda pod: pod.name != "p1")
    kept = Recording(Case(Run(tmp_path, "a-run"), "test"), lab)
    with kept.result():
        kept.look()
    (found,) = results_in(tmp_path)
    assert found.result.timelines == ("p0", "p2", "p3", "p4", "p5", "p6", "p7", "p8")


def test_timelines_of_a_failure_are_gathered_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are the result's, as they were then; asking a node that hangs takes its time."""
    told: dict[str, JsonValue] = {"pod": "greedy", "steps": [f"it said {TOKEN}"]}
    found = (Source("timelines/greedy.json", lambda: told),)
    monkeypatch.setattr(collecting, "sources", lambda lab, since: found)  # noqa: ARG005
    monkeypatch.setattr(recording, "timeline_of", lambda *_: pytest.fail("asked again"))
    kept = Recording(Case(Run(tmp_path, "a-run"), "test"), a_lab())
    with kept.result():
        kept.failed("it failed")
        kept.look()
    (result,) = results_in(tmp_path)
    clean = {"pod": "greedy", "steps": [f"it said {REMOVED}"]}
    assert result.result.timelines == (clean,)
    assert json.loads((result.folder / "timelines" / "greedy.json").read_bytes()) == clean


@pytest.mark.usefixtures("gathered")
def test_commands_can_be_pasted(tmp_path: Path) -> None:
    """Also where the state folder has a blank in its name."""
    look = (collected(a_lab(), "test", "", SINCE, tmp_path).folder / "look.sh").read_text()
    assert (
        "kubectl --kubeconfig '/state/my lab/kubeconfig' get pods --output wide --namespace ns\n"
    ) in look
    assert "gpulab timeline greedy --namespace ns --name t\n" in look


@pytest.mark.usefixtures("gathered")
def test_evidence_of_an_earlier_run_goes(tmp_path: Path) -> None:
    """A folder tells of one failure."""
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "old.txt").touch()
    kept = collected(a_lab(), "test", "", SINCE, tmp_path)
    assert not (kept.folder / "old.txt").exists()


@pytest.mark.usefixtures("gathered")
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """With the option that names another one."""
    (tmp_path / "file").touch()
    with pytest.raises(NotReady) as raised:
        collected(a_lab(), "test", "", SINCE, tmp_path / "file")
    assert raised.value.what == "the evidence of a failed test cannot be written"
    assert raised.value.commands == (
        "pytest --lab-evidence=/tmp/lab-evidence",
        "gpulab run --evidence /tmp/lab-evidence",
    )
