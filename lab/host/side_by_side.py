"""Steps that run beside each other in threads, and end together whatever happens to one of them."""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeVar

from lab.host.processes import Processes

_LOOK_SECONDS: Final = 0.5
_R = TypeVar("_R")


class Start(Protocol):
    """Starts a piece of work; its result, or its error, is in the future."""

    def __call__(self, work: Callable[[], _R]) -> Future[_R]:
        """Run `work` in a thread of its own."""
        ...


@contextmanager
def side_by_side(processes: Processes) -> Iterator[Start]:
    """Let work run beside the block; when the block ends, all of it has ended.

    An error (or a signal) in the block, and an error in the work that the block has not asked
    for, cancels the child processes of the rest, is waited for, and raised.
    """
    started: list[Future[Any]] = []
    with ThreadPoolExecutor(max_workers=8) as pool:

        def start(work: Callable[[], _R]) -> Future[_R]:
            future = pool.submit(work)
            started.append(future)
            return future

        try:
            yield start
            settle(*started)
        except BaseException:
            processes.cancel()
            raise


def settle(*futures: Future[Any]) -> None:
    """Wait until all have ended well, or until the first has not, and raise its error."""
    running: set[Future[Any]] = set(futures)
    while running and not any(each.done() and each.exception() for each in futures):
        # Woken now and then: a signal that another thread receives does not end this wait.
        _, running = wait(running, timeout=_LOOK_SECONDS, return_when=FIRST_EXCEPTION)
    for each in futures:
        if each.done():
            each.result()
