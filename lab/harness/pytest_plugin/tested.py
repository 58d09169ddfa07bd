"""A lab in the hands of one test: got, given to it, and put right afterwards."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from lab.core.errors import LabError
from lab.harness.lacking import lacking
from lab.harness.leasing import SetupFailedBefore
from lab.harness.namespace import name_for, opened
from lab.harness.pytest_plugin.forks import end_forked
from lab.harness.pytest_plugin.options import lab_options
from lab.harness.pytest_plugin.session import PROPERTY, SESSION, LabSession
from lab.harness.pytest_plugin.wishes import Wish, wish_of
from lab.harness.recording import Case, Recording
from lab.harness.run import Run
from lab.harness.running import as_it_was
from lab.install.backend import NoPlace

if TYPE_CHECKING:
    from lab.harness.lab import Lab
    from lab.harness.pytest_plugin.clusters import Cluster
    from lab.install.status import RunningLab

#: Of a test that has, or has had, a lab.
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
            pytest.skip(_SEE_FIRST)
        session.has_told_why = True
        pytest.fail(str(cluster), pytrace=False)
    with suppress(_Left), ExitStack() as stack:
        namespace = ExitStack()
        with _in_its_own_words():
            running = _leased(stack, cluster, item)
            lab = namespace.enter_context(opened(running, name_for(item.name)))
        recording = Recording(case_of(item), lab)
        # A namespace that does not go is a failure of the test, too.
        with _in_its_own_words(), recording.result(), namespace, as_it_was(lab):
            item.stash[RECORDING] = recording
            yield lab
            # A fixture that has come after it may have forked at its end.
            end_forked(item)
            if recording.has_failed:
                cluster.note_failure()
            if session.leaves(item.session, failed=recording.has_failed, stays=cluster.stays):
                lab.afterwards.leave()
            else:
                recording.look()
        # It is told to the lease alone, for it says nothing of the test.
        if lab.afterwards.left:
            raise _Left


@contextmanager
def _in_its_own_words() -> Iterator[None]:
    """Report what goes wrong with a lab without the lines of the lab's code."""
    try:
        yield
    except LabError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


def _leased(stack: ExitStack, cluster: "Cluster", item: pytest.Item) -> "RunningLab":
    """Return a lab that is the test's until the stack ends; skip one that cannot have one."""
    wish = wish_of(item)
    try:
        running = stack.enter_context(cluster.leases.lease(wish.fleet, wish.test))
    except SetupFailedBefore:
        pytest.skip(_SEE_FIRST)
    except NoPlace as error:
        pytest.skip(error.what)
    if reason := _why_not(running, wish):
        # Given back as it is: nothing is wrong with it.
        stack.close()
        pytest.skip(reason)
    record = running.record
    facts = {"backend": record.backend, "lab": record.name, "kubernetes": running.client.version()}
    item.user_properties += [(f"{PROPERTY}{key}", value) for key, value in facts.items()]
    return running


def case_of(item: pytest.Item) -> Case:
    """Return what a test is called in the results of its run."""
    session, wish = item.config.stash[SESSION], wish_of(item)
    run = Run(session.settings.evidence, session.run, lab_options(item.config))
    return Case(run, wish.test, wish.titles, wish.section)


def _why_not(running: "RunningLab", wish: Wish) -> str:
    """Return why a test does not apply to a lab, "" where it does."""
    backend = running.record.backend
    if wish.backends and backend not in wish.backends:
        return f"it holds on {', '.join(wish.backends)}, and the lab is on {backend}"
    return lacking(running, wish.needs)
