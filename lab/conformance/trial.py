"""A plugin on trial: its process, the kubelet that it registers with, and what passed between.

The kubelet is the lab's own, which answers as the real one. The trial keeps a plugin registered
for whichever check comes next, and starts it anew where the one before has left none.
"""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import Device, ListAndWatchResponse
from lab.conformance.calls import Calls
from lab.conformance.check import NotApplicable
from lab.conformance.command import PluginCommand
from lab.conformance.limits import Limits
from lab.conformance.process import PluginProcess, running
from lab.core.errors import NotReady
from lab.embedded.clock import RealClock
from lab.embedded.kubelet.client import PluginClient
from lab.embedded.kubelet.device import HEALTHY
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.journal import Call
from lab.embedded.kubelet.node import Settings
from lab.host.processes import Processes, pasteable

_LOOK_SECONDS: Final = 0.01
#: How long the kubelet may take to notice that a plugin was killed.
_NOTICED_SECONDS: Final = 5.0


class Trial:
    """One plugin, by its command, before a kubelet in the folder `work`, which is ours alone.

    `resource` is what is looked at of a plugin that registers several; where it is "", the first
    that the plugin registers. To be closed in the end.
    """

    def __init__(
        self,
        command: PluginCommand,
        work: Path,
        *,
        limits: Limits,
        processes: Processes,
        resource: str = "",
    ) -> None:
        """Have a kubelet, and no plugin yet; raise `NotReady` where that cannot be."""
        self.limits = limits
        self.resource = resource
        # Without the file DEPRECATION, so that a plugin of upstream's library registers at all.
        settings = Settings(deprecation_file=False)
        self.clock: Final = RealClock()
        self.kubelet: Final = DeviceManager(work / "d", settings, self.clock)
        self.process: PluginProcess | None = None
        #: Whether the plugin listened when it first called Register; None before.
        self.listened: bool | None = None
        self._processes = processes
        self._running = ExitStack()
        self._accepted_before = 0
        self._began = 0.0
        self._hopeless = ""
        self.kubelet.misbehaviour.on_register = self._look_whether_it_listens
        self._launch = command.on(self.kubelet.folder, processes)
        self.kubelet.start()

    def close(self) -> None:
        """End plugin and kubelet."""
        self.end_plugin()
        self.kubelet.stop()

    def start_plugin(self) -> PluginProcess:
        """Start the plugin, in the place of one that runs; raise `NotReady` where it cannot be."""
        self.end_plugin()
        self._begin_anew()
        self.process = self._running.enter_context(running(self._launch, self._processes))
        return self.process

    def end_plugin(self) -> None:
        """Kill the plugin, and wait until the kubelet knows; its socket may stay behind."""
        self._running.close()
        self.process = None
        known = self.kubelet.registrations
        self.wait(lambda: all(each.ended.is_set() for each in known), _NOTICED_SECONDS)

    def restart_kubelet(self) -> None:
        """Let the kubelet end and start, which removes all sockets."""
        self._begin_anew()
        self.kubelet.restart()

    def wait(self, holds: Callable[[], object], seconds: float) -> bool:
        """Wait until it holds, the plugin has ended, or time is up; tell whether it holds."""
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end or (self.process and self.process.has_ended):
                return bool(holds())
            time.sleep(_LOOK_SECONDS)
        return True

    def registers(self) -> list[Call]:
        """Return the calls of Register for the resource, since plugin and kubelet both run."""
        calls = self.kubelet.journal.calls("Register", self.resource or None)
        return [call for call in calls if call.began >= self._began]

    def resources(self) -> list[str]:
        """Return all resources that were ever to be registered, in that order."""
        return list(dict.fromkeys(call.resource for call in self.kubelet.journal.calls("Register")))

    def accepted(self) -> PluginClient | None:
        """Return the newest registration since plugin and kubelet both run."""
        since = self.kubelet.registrations[self._accepted_before :]
        return next((each for each in reversed(since) if each.resource == self.resource), None)

    def require_registration(self) -> None:
        """Start a plugin where none runs, and wait until it is registered; it may end then.

        Raises `NotApplicable` where a fresh plugin does not register, and for ever after.
        """
        if self._hopeless:
            raise NotApplicable(self._hopeless)
        if self.process is None or self.process.has_ended:
            self.start_plugin()
        if not self.wait(self.accepted, self.limits.register):
            self._hopeless = f"the plugin is not registered: {self.why_not_accepted()}"
            raise NotApplicable(self._hopeless)

    def registered(self) -> PluginClient:
        """Return the registration of a plugin that runs, which is started where none does.

        Raises `NotApplicable` as `require_registration`, and where the plugin does not stay.
        """
        self.require_registration()
        client = self.accepted()
        if client is None or self.process is None or self.process.has_ended:
            raise NotApplicable(f"the plugin does not stay: {self.end_of_plugin()}")
        return client

    def why_not_accepted(self) -> str:
        """Return what became of the last Register, or of the plugin."""
        calls = self.registers()
        if calls and calls[-1].error:
            return f"the kubelet refused it: {calls[-1].error}"
        if self.process and self.process.has_ended:
            return self.end_of_plugin()
        if calls:
            return f"the kubelet still waits for an answer on {calls[-1].socket}"
        return f"no Register within {self.limits.register:g} s"

    def renew(self) -> None:
        """Have no plugin: the next check that needs one starts it."""
        self.end_plugin()

    def end_of_plugin(self) -> str:
        """Return how the plugin ended, with its last words; "" where it runs."""
        if self.process is None:
            return "it is gone"
        words = f"{self.process.end}; {self.process.last_words}"
        return words if self.process.has_ended else ""

    def rest(self) -> None:
        """Wait a moment, or until the plugin is gone: its connections break a little before."""
        self.wait(lambda: False, self.limits.quiet)

    def not_started(self) -> NotReady:
        """Return the error for a plugin that ended before it did anything."""
        return NotReady(
            f"the plugin did not start: {self.process.end if self.process else 'it is gone'} "
            "before it called Register",
            where=pasteable(self._launch.asked),
            seen=self.process.last_words if self.process else "",
            remedy="run the command by itself; it has to go on running, and must not go to the "
            "background",
        )

    def stream(self) -> Call | None:
        """Return the kubelet's ListAndWatch of the plugin that is registered, the newest one."""
        client = self.accepted()
        calls = self.kubelet.journal.calls("ListAndWatch", self.resource)
        mine = [
            each
            for each in calls
            if client and each.began >= self._began and each.socket == client.path.name
        ]
        return mine[-1] if mine else None

    def listed(self) -> ListAndWatchResponse | None:
        """Return the newest list; None where none comes in time, or the stream ends before."""

        def is_decided() -> bool:
            call = self.stream()
            return bool(call and (call.answers or not call.is_open))

        self.wait(is_decided, self.limits.first_list)
        call = self.stream()
        answer = call.answer if call else None
        return answer if isinstance(answer, ListAndWatchResponse) else None

    def devices(self) -> list[Device]:
        """Return the newest list as the plugin sent it; raise `NotApplicable` without one."""
        self.registered()
        message = self.listed()
        if message is None:
            call = self.stream()
            error = call.error if call else "there is no stream"
            raise NotApplicable(f"it listed nothing: {error}")
        return list(message.devices)

    def some_devices(self) -> list[Device]:
        """Return the newest list; raise `NotApplicable` where there is nothing on it, too."""
        devices = self.devices()
        if not devices:
            raise NotApplicable("it lists no devices")
        return devices

    def first_list(self) -> list[Device]:
        """Return the list of the plugin's first life, as it was at the end of that."""
        calls = self.kubelet.journal.calls("ListAndWatch", self.resource)
        message = next((each.answer for each in calls if each.answer), None)
        return list(message.devices) if isinstance(message, ListAndWatchResponse) else []

    def healthy(self, number: int = 1) -> list[str]:
        """Return the IDs that a container may get; raise `NotApplicable` for fewer than that."""
        ids = dict.fromkeys(each.ID for each in self.devices() if each.health == HEALTHY)
        found = [each for each in ids if each]
        if len(found) < number:
            raise NotApplicable(f"it lists {len(found)} healthy devices, and this takes {number}")
        return found

    @contextmanager
    def calls(self) -> Iterator[Calls]:
        """Open a connection of our own to the plugin that is registered."""
        calls = Calls(self.registered(), self.limits, self.clock)
        try:
            yield calls
        finally:
            calls.close()

    def _begin_anew(self) -> None:
        self._accepted_before = len(self.kubelet.registrations)
        self._began = self.clock.now()

    def _look_whether_it_listens(self) -> None:
        open_calls = [each for each in self.registers() if each.is_open]
        if self.listened is None and open_calls:
            self.listened = _answers(self.kubelet.folder / open_calls[-1].socket)


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(path))
        except OSError:
            return False
    return True
