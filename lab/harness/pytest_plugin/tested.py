"""A lab in the hands of one test: got, given to it, and put right afterwards."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import pytest

from lab.core.errors import LabError
from lab.harness.lacking import lacking
from lab.harness.leasing import SetupFailedBefore
from lab.harness.namespace import name_for, opened
from lab.harness.pytest_plugin.options import lab_options
from lab.harness.pytest_plugin.session import LabSession
from lab.harness.pytest_plugin.wishes import Wish, wish_of
from lab.harness.recording import Recording, write_skipped
from lab.harness.run import Run
from lab.harness.running import as_it_was
from lab.install.backend import NoPlace

if TYPE_CHECKING:
    from lab.harness.lab import Lab
    from lab.harness.pytest_plugin.clusters import Cluster
    from lab.install.status import RunningLab

#: Of the test that has a lab just now.
RECORDING: Final = pytest.StashKey[Recording]()
_SEE_FIRST: Final = "the lab could not be set up: see the first error"


class _Left(Exception):
    """Ends the use of a lab that is left as it is."""


@contextmanager
def lent(session: LabSession, kubeconfig: Path | None) -> "Iterator[Cluster | LabError]":
    """Use the cluster of the run inside the block; what keeps it from that is for `tested`.

    Raised by a fixture of the session, it would be told for every test.
    """
    with ExitStack() as stack:
        found: Cluster | LabError
        try:
            found = stack.enter_context(session.cluster(kubeconfig).used(session.user))
        except LabError as error:
            found = error
        yield found


@contextmanager
def tested(
    item: pytest.Item, cluster: "Cluster | LabError", session: LabSession
) -> "Iterator[Lab]":
    """Have a lab for a test inside the block, and write down what comes of it.

    The test is skipped where no lab could be had for it, and fails where it should have been.
    """
    if isinstance(cluster, LabError):
        if session.has_told_why:
            _skip(item, session, _SEE_FIRST)
        session.has_told_why = True
        pytest.fail(str(cluster), pytrace=False)
    with suppress(_Left), ExitStack() as stack:
        with _in_its_own_words():
            running = _leased(stack, cluster, item, session)
            lab = stack.enter_context(opened(running, name_for(item.name)))
        recording = Recording(_run_of(item, session), lab, wish_of(item).test)
        stack.enter_context(_in_its_own_words())
        stack.enter_context(recording.result())
        stack.enter_context(as_it_was(lab))
        item.stash[RECORDING] = recording
        yield lab
        del item.stash[RECORDING]
        if recording.has_failed:
            cluster.note_failure()
        if session.leaves(item.session, failed=recording.has_failed, stays=cluster.stays):
            lab.afterwards.leave()
            raise _Left("the run has ended")
        recording.look()


@contextmanager
def _in_its_own_words() -> Iterator[None]:
    """Report what goes wrong with a lab without the lines of the lab's code."""
    try:
        yield
    except LabError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


def _leased(
    stack: ExitStack, cluster: "Cluster", item: pytest.Item, session: LabSession
) -> "RunningLab":
    """Return a lab that is the test's until the stack ends; skip one that cannot have one."""
    wish = wish_of(item)
    try:
        running = stack.enter_context(cluster.leases.lease(wish.fleet, wish.test))
    except SetupFailedBefore:
        _skip(item, session, _SEE_FIRST)
    except NoPlace as error:
        _skip(item, session, error.what)
    if reason := _why_not(running, wish):
        # Given back as it is: nothing is wrong with it.
        stack.close()
        _skip(item, session, reason)
    record = running.record
    facts = {"backend": record.backend, "lab": record.name, "kubernetes": running.client.version()}
    item.user_properties += [(f"gpu_lab.{key}", value) for key, value in facts.items()]
    return running


def _skip(item: pytest.Item, session: LabSession, reason: str) -> NoReturn:
    """Skip a test that has no lab, and write that down: an earlier run may have left a verdict."""
    write_skipped(_run_of(item, session), wish_of(item).test, reason)
    pytest.skip(reason)


def _run_of(item: pytest.Item, session: LabSession) -> Run:
    return Run(session.settings.evidence, session.run, lab_options(item.config))


def _why_not(running: "RunningLab", wish: Wish) -> str:
    """Return why a test does not apply to a lab, "" where it does."""
    backend = running.record.backend
    if wish.backends and backend not in wish.backends:
        return f"it holds on {', '.join(wish.backends)}, and the lab is on {backend}"
    return lacking(running, wish.needs)
