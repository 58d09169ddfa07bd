"""Ctrl-C, SIGTERM and a closed terminal, sent to a command that is at work."""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from lab.cli.signals import raise_interrupted
from lab.core.errors import Interrupted

#: A command whose work and whose clean-up both last until they are told a line.
COMMAND = """
import sys, click
from lab.cli import main

@click.command()
def work():
    try:
        print("at work", flush=True)
        sys.stdin.readline()
    finally:
        print("cleaning up", flush=True)
        sys.stdin.readline()
        print("clean", flush=True)

main.COMMANDS["work"] = ("__main__:work", "")
sys.exit(main.run(["work"]))
"""
STILL = "SIGTERM: still cleaning up; once more leaves it as it is\n"


class Working:
    """The command, at work."""

    def __init__(self, before: Callable[[], object] | None = None) -> None:
        pipe = subprocess.PIPE
        argv = (sys.executable, "-c", COMMAND)
        self.child = subprocess.Popen(
            argv,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            text=True,
            preexec_fn=before,  # noqa: PLW1509 - the tests have no threads when they start it
        )
        assert self.says("stdout") == "at work\n"

    def says(self, stream: str) -> str:
        """Return its next line."""
        line: str = getattr(self.child, stream).readline()
        return line

    def interrupt(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send the signal."""
        self.child.send_signal(number)

    def ends(self, *, told: str = "\n") -> tuple[int, str, str]:
        """Tell it a line, and return its exit code and all that it still says."""
        said, error = self.child.communicate(told, 60)
        return self.child.returncode, said, error


@pytest.fixture
def working() -> Iterator[Callable[..., Working]]:
    """Return what starts the command; it has ended when the test has."""
    started: list[Working] = []

    def start(before: Callable[[], object] | None = None) -> Working:
        started.append(Working(before))
        return started[-1]

    yield start
    for each in started:
        each.child.kill()
        each.child.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_the_command_after_its_clean_up(
    working: Callable[..., Working], number: signal.Signals
) -> None:
    """With one line and the code for it."""
    command = working()
    command.interrupt(number)
    assert command.says("stdout") == "cleaning up\n"
    assert command.ends() == (130, "clean\n", f"interrupted by {number.name}\n")


def test_second_signal_is_answered_and_lets_it_finish(working: Callable[..., Working]) -> None:
    """An impatient user learns what is going on."""
    command = working()
    command.interrupt()
    assert command.says("stdout") == "cleaning up\n"
    command.interrupt()
    assert command.says("stderr") == STILL
    assert command.ends() == (130, "clean\n", "interrupted by SIGTERM\n")


def test_third_signal_ends_it_where_it_stands(working: Callable[..., Working]) -> None:
    """The clean-up is left as it is, as the second line had said."""
    command = working()
    command.interrupt()
    assert command.says("stdout") == "cleaning up\n"
    command.interrupt()
    assert command.says("stderr") == STILL
    command.interrupt()
    assert command.ends(told="") == (130, "", "interrupted by SIGTERM\n")


def test_closed_terminal_does_not_end_what_nohup_runs(working: Callable[..., Working]) -> None:
    """It was started so as to outlive its terminal."""
    command = working(partial(signal.signal, signal.SIGHUP, signal.SIG_IGN))
    command.interrupt(signal.SIGHUP)
    assert command.ends(told="\n\n") == (0, "cleaning up\nclean\n", "")


def test_two_signals_at_once_interrupt_too() -> None:
    """The second can come while the first is handled; neither may swallow the other."""
    both = {signal.SIGINT, signal.SIGTERM}

    def work() -> None:
        with raise_interrupted():
            signal.pthread_sigmask(signal.SIG_BLOCK, both)
            # To this thread: another of the process, which blocks none, would take them at once.
            for number in both:
                signal.pthread_kill(threading.get_ident(), number)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, both)

    with pytest.raises(Interrupted, match="interrupted by SIG"):
        work()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) & both == set()
