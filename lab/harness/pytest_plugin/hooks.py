"""What pytest and pytest-xdist call.

Every project that has gpu-lab installed loads this, so what is not always wanted is imported late.
"""

import subprocess
import sys
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Final

import pytest

from lab.harness.pytest_plugin.conclusion import Conclusion
from lab.harness.pytest_plugin.forks import end_forked, note_owner
from lab.harness.pytest_plugin.options import DOCTOR, add_options, described
from lab.harness.pytest_plugin.session import INPUT, SESSION, LabSession
from lab.harness.pytest_plugin.wishes import FIXTURE, MARKER, wants_lab, wish_of

if TYPE_CHECKING:
    from typing import Protocol

    class Worker(Protocol):
        """What is used of xdist's WorkerController."""

        config: pytest.Config
        workerinput: dict[str, object]


_DOCTOR: Final = (sys.executable, "-m", "lab.cli.main", "doctor")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all of which begin with `--lab-`."""
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Check the machine instead of running tests, where that is asked for."""
    if config.getoption(DOCTOR):
        return subprocess.run(_DOCTOR, check=False).returncode
    return None


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and read the options."""
    config.addinivalue_line("markers", MARKER)
    config.stash[SESSION] = LabSession.of(config)
    config.pluginmanager.register(Conclusion(config.stash[SESSION]), "gpu-lab-conclusion")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Tell which options are set."""
    told = described(config)
    return f"gpu-lab: {told}" if told else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: "Worker") -> None:
    """Tell a worker of xdist which run it belongs to."""
    node.workerinput[INPUT] = node.config.stash[SESSION].run


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse markers that nobody could serve; with `--dist loadgroup`, group tests by fleet."""
    grouped = config.getoption("loadgroup", default=False)
    for item in items:
        if item.get_closest_marker(FIXTURE) or wants_lab(item):
            wish = wish_of(item)
            if grouped and wants_lab(item) and not item.get_closest_marker("xdist_group"):
                item.add_marker(pytest.mark.xdist_group(wish.group))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Prepare for labs, where tests want them and are going to be run."""
    if session.config.option.collectonly:
        return
    wishes = [wish_of(item) for item in session.items if wants_lab(item)]
    if wishes:
        labs = session.config.stash[SESSION]
        labs.announce(max(wish.fleet.workers() for wish in wishes))
        if labs.is_main:
            labs.begin()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: "Worker", ids: Sequence[str]) -> None:
    """Stand for the labs of the workers, which begin when all of them have collected."""
    del ids
    labs = node.config.stash[SESSION]
    if labs.is_announced:
        labs.begin()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let the result of a test be that it has begun, before a mark or a fixture can skip it."""
    note_owner(item)
    if wants_lab(item):
        from lab.harness.pytest_plugin.judging import begin  # noqa: PLC0415 - see above

        begin(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """See that a test has given its lab back, whatever its fixtures did at their end."""
    try:
        yield
    finally:
        if wants_lab(item):
            from lab.harness.pytest_plugin.judging import require_end  # noqa: PLC0415 - see above

            require_end(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note what comes of each phase, and keep the evidence of a failure before the teardown."""
    if item.config.stash[SESSION].wants_labs:
        end_forked(item)
    if not wants_lab(item):
        return (yield)
    from lab.harness.pytest_plugin.judging import judge, shorten  # noqa: PLC0415 - see above

    shorten(item, call)
    report = yield
    judge(item, report)
    return report
