"""One run of a scenario on a lab: within its deadline, and the lab afterwards as it was before."""

import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from lab.core.clock import Clock
from lab.core.errors import CheckFailed, LabError, TimedOut
from lab.harness.baseline import Baseline
from lab.harness.lab import Lab
from lab.harness.namespace import name_for, opened
from lab.harness.recording import Case, Recording
from lab.harness.scenario import Scenario
from lab.harness.sight import MET, Hopeless, NotYet, Sight
from lab.install.status import RunningLab

_RESTORED_SECONDS: Final = 90.0
#: A scenario that is told to end has that long to do so.
_ENDING_SECONDS: Final = 10.0


def run(
    scenario: Scenario,
    running: RunningLab,
    case: Case,
    *,
    clock: Clock | None = None,
    told: Callable[[str], None] | None = None,
) -> None:
    """Run a scenario on a lab whose fleet is the scenario's, and write down what comes of it.

    `told` hears what is waited for, at each look.
    Raises what its expectations raise, `TimedOut` where it does not end within its deadline, and
    `CheckFailed` where the lab is not afterwards as it was before.
    """
    namespace = ExitStack()
    with case.without_lab():
        lab = namespace.enter_context(opened(running, name_for(scenario.name), clock))
    recording = Recording(case, lab)
    # A namespace that does not go is a failure of the scenario's, too.
    with recording.result(), namespace, as_it_was(lab), recording.evidence():
        lab.view.waiting.told = told or lab.view.waiting.told
        within_deadline(scenario, lab)
        recording.passed()


@contextmanager
def as_it_was(lab: Lab) -> Iterator[None]:
    """Undo after the block what was done to the lab, and see that it is as it was before.

    Raises `CheckFailed` where it is not, unless the block has failed: its own error is told then.
    A lab that is to be left as it is, is.
    """
    before = Baseline.of(lab.view)
    with lab.afterwards:
        yield
    if lab.afterwards.left:
        return

    def look() -> Sight:
        left = [*before.differences(Baseline.of(lab.view))]
        if lost := [*before.lost(lab.view)]:
            advice = lab.running.client.connection.advice
            return Hopeless("\n".join(left), *advice.of_silent_node(lost[0]))
        return NotYet("\n".join(left)) if left else MET

    outcome = lab.view.until(look, _RESTORED_SECONDS)
    if not outcome.is_met:
        own = outcome.sight.commands if isinstance(outcome.sight, Hopeless) else ()
        raise CheckFailed(
            f"the lab is not as it was before, {outcome.waited:.0f} s after the test",
            where=f"lab {lab.name}",
            seen=outcome.seen,
            remedy="see what the test left behind; bringing the lab up again puts it right",
            commands=(*own, f"gpulab status --name {lab.name}", f"gpulab up --name {lab.name}"),
        )


def within_deadline(scenario: Scenario, lab: Lab) -> None:
    """Run the scenario's function in a thread of its own, which is told to end at the deadline.

    Raises the `LabError` that it raises, and `CheckFailed` for any other error.
    """
    errors: list[BaseException] = []

    def work() -> None:
        try:
            scenario.body(lab)
        except BaseException as error:  # noqa: BLE001 - raised by who waits for it
            errors.append(error)

    thread = threading.Thread(target=work, name=scenario.name, daemon=True)
    thread.start()
    try:
        thread.join(scenario.deadline)
        late = thread.is_alive()
        where = _place_of(thread, scenario) if late else ""
    finally:
        lab.view.end(thread)
        thread.join(_ENDING_SECONDS)
    if late:
        raise TimedOut(
            f"the scenario {scenario.name!r} did not end within {scenario.deadline:g} s",
            where=where,
            remedy="see what it waits for there",
            commands=(f"gpulab run {scenario.name} --name {lab.name}",),
        )
    if errors:
        raise _told(errors[0], scenario, lab)


def _told(error: BaseException, scenario: Scenario, lab: Lab) -> LabError | KeyboardInterrupt:
    """Return how an error of a scenario is told: as it is, or one of Python's as a failure."""
    if isinstance(error, LabError | KeyboardInterrupt):
        return error
    stack = traceback.extract_tb(error.__traceback__)
    said = "".join(traceback.format_exception_only(error)).strip()
    told = CheckFailed(
        f"the scenario {scenario.name!r} ended by {type(error).__name__}",
        where=_own_line(stack, scenario),
        seen=said,
        remedy="see what it does there",
        commands=(f"gpulab run {scenario.name} --name {lab.name}",),
    )
    told.__cause__ = error
    return told


def _place_of(thread: threading.Thread, scenario: Scenario) -> str:
    """Return the line of the scenario at which a thread is."""
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - there is no other way
    return _own_line(traceback.extract_stack(frame), scenario)


def _own_line(stack: traceback.StackSummary, scenario: Scenario) -> str:
    """Return the last line of the scenario's own file in a stack."""
    file = scenario.body.__code__.co_filename
    own = [each for each in stack if each.filename == file]
    return f"{own[-1].filename}:{own[-1].lineno}: {own[-1].line}" if own else "outside of its code"
