"""Steps that run beside each other in threads, and end together whatever happens to one of them."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Protocol, TypeVar

from lab.host.processes import Processes

_R = TypeVar("_R")


class Start(Protocol):
    """Starts a piece of work; its result, or its error, is in the future."""

    def __call__(self, work: Callable[[], _R]) -> Future[_R]:
        """Run `work` in a thread of its own."""
        ...


@contextmanager
def side_by_side(processes: Processes) -> Iterator[Start]:
    """Let work run beside the block; when the block ends, all of it has ended.

    An error (or a signal) in the block cancels the child processes of the work and waits for it.
    An error in the work is raised by the future's `result`, which the block must ask for.
    """
    with ThreadPoolExecutor(max_workers=8) as pool:

        def start(work: Callable[[], _R]) -> Future[_R]:
            return pool.submit(work)

        try:
            yield start
        except BaseException:
            processes.cancel()
            raise
