"""Child processes: what they say is kept, and none outlives its command."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from lab.core.errors import Interrupted, NotReady, TimedOut, Told
from lab.host import processes as processes_module
from lab.host.processes import Finished, Processes, ProcessFailed, pasteable
from tests.unit.stand_ins.held_pipe import Hear, hearing

#: Starts a grandchild that ignores SIGTERM, keeps our outputs open, and holds a pipe to the test.
STUBBORN: Final = """
trap '' TERM
exec 3> "$1"
sleep 60 &
echo started >&2
echo started >&3
"""
WAITS: Final = STUBBORN + "wait\n"
HOLDS_STDERR: Final = STUBBORN.replace("sleep 60", "sleep 60 > /dev/null")


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Processes:
    """Return the children of a command, which are given little time to end."""
    monkeypatch.setattr(processes_module, "GRACE_SECONDS", 0.2)
    return Processes()


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Return the pipe that a stubborn child writes to."""
    return tmp_path / "pipe"


@pytest.fixture
def hear(pipe: Path) -> Iterator[Hear]:
    """Return what waits for the next words in the pipe; none when all who held it have ended."""
    with hearing(pipe, 20) as hear:
        yield hear


def python(text: str) -> list[str]:
    """Return the command line for a Python script."""
    return [sys.executable, "-c", text]


def test_both_outputs_and_the_code_are_kept(processes: Processes) -> None:
    """A child that fails is returned like any other where the caller decides."""
    script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    finished = processes.run(python(script), check=False)
    assert (finished.stdout, finished.stderr, finished.returncode) == ("out\n", "err\n", 3)
    assert not finished.ok


def test_failure_shows_command_and_last_words(processes: Processes) -> None:
    """The text of the error has the line to paste and what the child said last."""
    with pytest.raises(ProcessFailed) as raised:
        processes.run(["sh", "-c", "echo no space left >&2; exit 28"])
    assert raised.value.render() == (
        "sh exited with 28\n"
        "  where: sh -c 'echo no space left >&2; exit 28'\n"
        "  seen:  no space left"
    )


def test_missing_program_is_not_ready(processes: Processes) -> None:
    """What the machine lacks is named, and is no bug of the lab."""
    with pytest.raises(NotReady, match="the program no-such-program cannot be started") as raised:
        processes.run(["no-such-program", "up"])
    assert raised.value.where == "no-such-program up"
    assert "No such file or directory" in raised.value.seen


def test_file_that_is_no_program_is_not_ready(processes: Processes, tmp_path: Path) -> None:
    """A file that the system refuses to run gives the system's reason."""
    (tmp_path / "kind").write_text("")
    with pytest.raises(NotReady) as raised:
        processes.run([tmp_path / "kind"])
    assert "Permission denied" in raised.value.seen


@pytest.mark.parametrize("on_line", [None, lambda _: None], ids=["at the end", "by line"])
def test_stdin_is_given_as_bytes(
    processes: Processes, on_line: Callable[[str], None] | None
) -> None:
    """A megabyte goes in and comes out, however stderr is read."""
    content = b"x" * 1_000_000
    assert processes.run(["cat"], stdin=content, on_line=on_line).stdout == content.decode()


def test_stdin_that_nobody_reads_is_no_failure(processes: Processes) -> None:
    """The child decides what it reads; its exit code decides whether it failed."""
    assert processes.run(["true"], stdin=b"x" * 1_000_000).ok


def test_stdin_and_stdout_can_be_files(processes: Processes, tmp_path: Path) -> None:
    """An image goes from file to file without passing through memory."""
    (tmp_path / "in").write_bytes(b"image")
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as target:
        assert processes.run(["cat"], stdin=source, stdout=target).stdout == ""
    assert (tmp_path / "out").read_bytes() == b"image"


def test_stdin_is_empty_by_default(processes: Processes) -> None:
    """No child waits for what the user might type."""
    assert processes.run(["cat"]).stdout == ""


def test_environment_is_added_to_ours(
    processes: Processes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A child sees this process's environment, what is added, and its own folder."""
    monkeypatch.setenv("OURS", "1")
    finished = processes.run(
        ["sh", "-c", "echo $OURS $ADDED; pwd -P"], env={"ADDED": "2"}, cwd=tmp_path
    )
    assert finished.stdout == f"1 2\n{tmp_path.resolve()}\n"


def test_each_line_of_stderr_is_told_as_it_comes(processes: Processes) -> None:
    """Progress can follow a build: the lines come while the child still waits for its input."""
    lines: list[str] = []
    script = "import sys; print('one\\ntwo \\xff', file=sys.stderr); print('out')"
    finished = processes.run(python(script), on_line=lines.append)
    assert lines == ["one", "two \xff"]
    assert (finished.stdout, finished.stderr) == ("out\n", "one\ntwo \xff\n")


def test_output_that_is_no_text_is_replaced(processes: Processes) -> None:
    """Bytes that are not UTF-8 do not stop anything."""
    finished = processes.run(["printf", r"a\377b"])
    assert finished.stdout == "a\N{REPLACEMENT CHARACTER}b"


@pytest.mark.parametrize("on_line", [None, lambda _: None], ids=["at the end", "by line"])
@pytest.mark.parametrize(
    "script",
    [WAITS, STUBBORN, HOLDS_STDERR],
    ids=["child waits", "child is gone", "stderr is held"],
)
def test_timeout_ends_the_whole_group(
    processes: Processes, pipe: Path, hear: Hear, script: str, on_line: Callable[[str], None] | None
) -> None:
    """Neither the child nor what it started is left, even where they ignore SIGTERM."""
    with pytest.raises(TimedOut, match=r"^sh did not end within 0.5 s") as raised:
        processes.run(["sh", "-c", script, "-", pipe], timeout=0.5, on_line=on_line)
    assert raised.value.seen == "started"
    assert (hear(), hear()) == (b"started\n", b"")


FINISHES: Final = """
(trap '' TERM; sleep 0.3; echo finished >&3) 3> "$1" &
exec sleep 60
"""


def test_what_a_child_has_started_may_finish_with_patience(
    processes: Processes, pipe: Path, hear: Hear
) -> None:
    """The child ends at once, its own child does what it was about to do."""
    with pytest.raises(TimedOut):
        processes.run(["sh", "-c", FINISHES, "-", pipe], timeout=0.1, patience=20)
    assert (hear(), hear()) == (b"finished\n", b"")


@pytest.fixture
def join(processes: Processes, pipe: Path, hear: Hear) -> Iterator[Callable[[], list[Told]]]:
    """Run a stubborn child in a thread; return what joins the thread and tells what it raised."""
    raised: list[Told] = []

    def run() -> None:
        try:
            processes.run(["sh", "-c", WAITS, "-", pipe])
        except Told as error:
            raised.append(error)

    def join() -> list[Told]:
        thread.join(20)
        return raised

    thread = threading.Thread(target=run)
    thread.start()
    assert hear() == b"started\n"
    yield join
    processes.cancel()
    thread.join()


def test_a_program_beside_the_body_ends_with_it(
    processes: Processes, pipe: Path, hear: Hear, tmp_path: Path
) -> None:
    """And so does what it has started; both outputs are in the file."""
    said = tmp_path / "said"
    command = ["sh", "-c", "echo begins\n" + WAITS, "sh", str(pipe)]
    with said.open("wb") as output, processes.beside(command, output=output) as child:
        assert hear() == b"started\n"
        assert child.poll() is None
    assert hear() == b""
    assert child.returncode == -signal.SIGKILL
    assert said.read_text() == "begins\nstarted\n"


def test_a_program_beside_the_body_is_ended_by_a_cancel(
    processes: Processes, tmp_path: Path
) -> None:
    """As those are that are waited for."""
    with (
        (tmp_path / "said").open("wb") as output,
        processes.beside(["sleep", "60"], output=output) as child,
    ):
        processes.cancel()
        assert child.returncode == -signal.SIGTERM


def test_cancel_ends_what_runs_in_other_threads(
    processes: Processes, hear: Hear, join: Callable[[], list[Told]]
) -> None:
    """The thread learns that it was interrupted, not that its child failed."""
    processes.cancel()
    assert hear() == b""
    assert [type(error) for error in join()] == [Interrupted]


def test_cancel_refuses_new_children(processes: Processes, tmp_path: Path) -> None:
    """After a cancel nothing starts any more."""
    processes.cancel()
    assert processes.cancelled
    with pytest.raises(Interrupted, match="interrupted"):
        processes.run(["touch", tmp_path / "made"])
    assert not (tmp_path / "made").exists()


def test_exception_in_the_caller_ends_the_child(
    processes: Processes, pipe: Path, hear: Hear, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal that raises while a child runs leaves no child."""

    def interrupted(*_: object) -> None:
        raise Interrupted(f"interrupted after {hear()!r}")

    monkeypatch.setattr("subprocess.Popen.communicate", interrupted)
    with pytest.raises(Interrupted, match="started"):
        processes.run(["sh", "-c", WAITS, "-", pipe])
    assert hear() == b""


def test_children_have_a_group_of_their_own(processes: Processes) -> None:
    """Ctrl-C on the terminal reaches the lab alone, which then decides what ends when."""
    group = processes.run(python("import os; print(os.getpgid(0))")).stdout
    assert int(group) != os.getpgid(0)


@pytest.mark.parametrize(
    ("stdout", "stderr", "tail"),
    [
        ("out\n", "err\n", "err"),
        ("out\n", " \n", "out"),
        ("", "", "(it printed nothing)"),
        ("", "\n".join(map(str, range(20))), "\n".join(map(str, range(5, 20)))),
    ],
)
def test_tail_is_what_was_said_last(stdout: str, stderr: str, tail: str) -> None:
    """The last fifteen lines of stderr are quoted, or of stdout where stderr is empty."""
    assert Finished(("docker",), 1, stdout, stderr, 0.1).tail() == tail


def test_command_line_can_be_pasted() -> None:
    """What a shell would take apart is quoted."""
    command = ("docker", "info", "--format", "{{json .}}", "it's")
    assert pasteable(command) == """docker info --format '{{json .}}' 'it'"'"'s'"""
