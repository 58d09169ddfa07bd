"""What is to be undone when a test is over."""

from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from lab.core.errors import UsageError


class Afterwards:
    """Undoes what was done inside its block, the latest first, all of it whatever fails.

    The last error of those is raised, or an interruption that came before it. Nothing more is done
    then: what a test that hangs goes on to do when it is over would be done to the next one.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._keys: set[tuple[str, ...]] = set()
        self._over = False
        #: Whether everything stays as it is.
        self.left = False
        #: Whether something was not undone.
        self.has_failed = False
        self._failures: list[BaseException] = []

    def once(self, *key: str, undo: Callable[[], object]) -> None:
        """Have something undone, unless something of this key already is to be.

        Called before it is done; raises `UsageError` where the block has ended.
        """
        if self._over:
            raise UsageError(
                "the test that this lab was handed to is over",
                remedy="take the lab as an argument in each test that does something to it",
            )
        if key not in self._keys:
            self._keys.add(key)
            self._stack.callback(self._note_failure, undo)

    def leave(self) -> None:
        """Undo nothing: the lab goes, or somebody wants to look at it."""
        self.left = True
        self._stack.pop_all()

    def __enter__(self) -> Self:
        self._stack.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over = True
        try:
            self._stack.__exit__(kind, error, traceback)
        except BaseException as last:
            self.has_failed = True
            # Who asks for an end gets it, whatever failed on the way there.
            for each in (error, *self._failures):
                if isinstance(each, KeyboardInterrupt) and each is not last:
                    each.add_note(str(last))
                    raise each from last
            raise

    def _note_failure(self, undo: Callable[[], object]) -> None:
        try:
            undo()
        except BaseException as error:
            self._failures.append(error)
            raise
