"""What the plugin knows of the run that its process is a part of.

A run has one main process, which collects the results, and with pytest-xdist workers, in which the
tests are. Labs are made by whoever has a test that needs one, and taken down once, at the end, by
the main process: that one is there even when a worker has crashed.
"""

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from lab.harness.pytest_plugin.options import Settings, lab_options
from lab.harness.pytest_plugin.signals import Interruptions
from lab.harness.run import new_name

if TYPE_CHECKING:
    from filelock import FileLock

    from lab.harness.pytest_plugin.clusters import Cluster
    from lab.harness.pytest_plugin.runs import RunFolder

#: By this name a worker learns which run it belongs to.
INPUT: Final = "gpu_lab_run"


@dataclass
class LabSession:
    """One process of a run; `run` is the run's name, `is_main` says whether there is none above."""

    settings: Settings
    run: str
    is_main: bool
    user: str = "main"
    #: How many workers a cluster needs for all fleets of the run.
    workers: int = 1
    kept: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: What Ctrl-C has left half done, in words.
    broken_off: list[str] = field(default_factory=list)
    #: Whether a test has failed by what keeps all of this process from having labs.
    has_told_why: bool = False
    interruptions: Interruptions = field(default_factory=Interruptions)
    #: The process that has announced that tests want labs, 0 before.
    _announced_by: int = 0
    _held: "list[FileLock]" = field(default_factory=list)
    _lent: ExitStack = field(default_factory=ExitStack)

    @classmethod
    def of(cls, config: pytest.Config) -> "LabSession":
        """Return what a process starts with; raises `pytest.UsageError`."""
        settings = settings_of(config)
        given = getattr(config, "workerinput", None)
        if given is None:
            return cls(settings, new_name("pytest"), is_main=True)
        return cls(settings, given[INPUT], is_main=False, user=given["workerid"])

    @property
    def folder(self) -> "RunFolder":
        """The run's files."""
        # Loaded where a test wants a lab: this is in every project that has gpu-lab installed.
        from lab.harness.pytest_plugin.runs import RunFolder  # noqa: PLC0415 - see above

        return RunFolder.of(self.run)

    @property
    def is_announced(self) -> bool:
        """Whether a process of the run has tests that want labs."""
        return self.folder.path.exists()

    @property
    def wants_labs(self) -> bool:
        """Whether tests of this process want labs."""
        return bool(self._announced_by)

    @property
    def is_forked(self) -> bool:
        """Whether a test has forked this process off from one whose tests want labs."""
        return self.wants_labs and self._announced_by != os.getpid()

    @property
    def has_begun(self) -> bool:
        """Whether this is the main process of a run whose tests want labs."""
        return bool(self._held)

    def announce(self, workers: int) -> None:
        """Let it be known that tests of the run want labs."""
        from lab.core.errors import LabError  # noqa: PLC0415 - as above
        from lab.harness.evidence.folder import require_writable  # noqa: PLC0415 - as above

        self.workers = workers
        self._announced_by = os.getpid()
        self.interruptions.heed()
        try:
            self.folder.make()
            if not self.is_main:
                self.folder.note_pid(self.user)
            require_writable(self.settings.evidence)
        except LabError as error:
            raise pytest.UsageError(str(error)) from error

    def begin(self) -> None:
        """Stand for the run's labs, and take down those of runs that were killed.

        Raises `pytest.UsageError` where the lab that is to be used cannot be.
        """
        from lab.core.errors import LabError  # noqa: PLC0415 - as above
        from lab.harness.pytest_plugin.ending import take_down_dead_runs  # noqa: PLC0415 - as above

        if self.has_begun:
            return
        self.interruptions.heed()
        self._held.append(self.folder.live())
        if self.settings.use:
            try:
                self._have(self.settings.use)
            except LabError as error:
                raise pytest.UsageError(f"--lab-use {self.settings.use}: {error}") from error
        self.notes += take_down_dead_runs(self.folder)

    def _have(self, name: str) -> None:
        """Keep a lab that is up for this run; raises `LabError`."""
        from lab.cluster.record import LabFolder  # noqa: PLC0415 - as above
        from lab.harness.pytest_plugin.ordering import require_backend  # noqa: PLC0415 - as above
        from lab.host.folders import Folders  # noqa: PLC0415 - as above
        from lab.install.lock import alone  # noqa: PLC0415 - as above

        folders = Folders.of()
        self._lent.enter_context(alone(folders, name, "pytest"))
        if record := LabFolder.of(folders, name).read():
            require_backend(self.settings, record)

    def cluster(self, kubeconfig: Path | None) -> "Cluster":
        """Return where this process finds labs; raises `LabError`."""
        from lab.harness.pytest_plugin.clusters import cluster_for  # noqa: PLC0415 - as above

        return cluster_for(self.settings, kubeconfig, self.folder, self.workers)

    def end_workers(self) -> None:
        """Where workers are at work on labs still, have them end; one that does not is told of."""
        from lab.harness.pytest_plugin.ending import end_workers  # noqa: PLC0415 - as above

        self.failures += end_workers(self.folder)

    def end(self, *, failed: bool) -> None:
        """Take down what the run has made, or keep it if that is asked for."""
        from lab.harness.pytest_plugin.ending import end_run  # noqa: PLC0415 - as above

        keep = self.settings.keep == "always" or (self.settings.keep == "failed" and failed)
        (alive,) = self._held
        self._lent.close()
        with self.interruptions.held_off():
            self.kept, failures = end_run(self.folder, keep=keep)
        self.failures += failures
        alive.release()
        self._held.clear()

    def leaves(self, session: pytest.Session, *, failed: bool, stays: bool) -> bool:
        """Whether a test's lab is left as it is: it goes anyway, or somebody wants to see it."""
        looked_at = failed and self.settings.keep != "never" and bool(session.shouldfail)
        return looked_at or (self.interruptions.came and not stays)


#: With this begin the properties of a report that are of the lab which the test had.
PROPERTY: Final = "gpu_lab."
#: Which one that was, and where the evidence of a failure is.
LAB: Final = f"{PROPERTY}lab"
EVIDENCE: Final = f"{PROPERTY}evidence"
SESSION: Final = pytest.StashKey[LabSession]()


def settings_of(config: pytest.Config) -> Settings:
    """Return what options and environment say; raises `pytest.UsageError`, also where it cannot be.

    What contradicts what is only looked at where somebody says something.
    """
    settings = Settings.of(config)
    if not lab_options(config):
        return settings
    from lab.core.errors import UsageError  # noqa: PLC0415 - as above
    from lab.harness.pytest_plugin.ordering import order_of  # noqa: PLC0415 - as above

    try:
        order_of(settings)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from error
    return settings
