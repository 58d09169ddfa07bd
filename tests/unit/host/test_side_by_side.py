"""Steps beside each other end together."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.core.errors import Interrupted, NotReady
from lab.host.processes import Finished, Processes
from lab.host.side_by_side import settle, side_by_side

if TYPE_CHECKING:
    from concurrent.futures import Future


def test_results_come_back_to_the_block() -> None:
    """Work runs in threads, and the block asks for what it made."""
    with side_by_side(Processes()) as start:
        futures = [start(lambda: "image"), start(lambda: "kind")]
        assert [future.result() for future in futures] == ["image", "kind"]


def test_error_of_the_work_is_raised_where_it_is_asked_for() -> None:
    """The block decides when it needs the result, and fails then."""

    def build() -> None:
        raise NotReady("the disk is full")

    with pytest.raises(NotReady, match="the disk is full"), side_by_side(Processes()) as start:
        start(build).result()


def test_error_of_the_block_ends_the_children_of_the_work(tmp_path: Path) -> None:
    """A signal in the main thread leaves no build running, and no thread."""
    processes, pipe = Processes(), tmp_path / "pipe"
    os.mkfifo(pipe)
    command = ("sh", "-c", 'echo started > "$1"; sleep 60', "-", str(pipe))
    asked: list[Future[Finished]] = []

    def begin() -> None:
        with side_by_side(processes) as start:
            asked.append(start(lambda: processes.run(command)))
            raise Interrupted(f"SIGINT, after {pipe.read_text()!r}")

    with pytest.raises(Interrupted, match="SIGINT, after 'started"):
        begin()
    assert isinstance(asked[0].exception(0), Interrupted)


def test_error_that_nobody_asked_for_is_raised_all_the_same() -> None:
    """Work whose result is of no use can fail too."""

    def build() -> None:
        raise NotReady("the disk is full")

    with pytest.raises(NotReady, match="the disk is full"), side_by_side(Processes()) as start:
        start(build)


def test_first_error_does_not_wait_for_the_rest() -> None:
    """What still runs is cancelled, and the error comes at once."""
    processes = Processes()
    slow: list[Future[Finished]] = []

    def build() -> None:
        raise NotReady("the disk is full")

    def both() -> None:
        with side_by_side(processes) as start:
            slow.append(start(lambda: processes.run(("sleep", "60"))))
            settle(*slow, start(build))

    with pytest.raises(NotReady, match="the disk is full"):
        both()
    assert isinstance(slow[0].exception(0), Interrupted)
