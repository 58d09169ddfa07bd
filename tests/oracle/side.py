"""A kubelet, and the plugins on its node."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import grpc

from fake_plugin.api.deviceplugin_pb2 import AllocateRequest, AllocateResponse
from tests.oracle.kubelet import Kubelet
from tests.oracle.plugin import Plugin
from tests.oracle.script import Step
from tests.unit.waiting import wait_until

_Allocate: TypeAlias = Callable[[AllocateRequest], AllocateResponse | str]
#: How often in a row the two have to agree on the number of streams: some ends lead to others.
_CALM: Final = 3


class Side:
    """A kubelet and the plugins on its node."""

    def __init__(self, kubelet: Kubelet, folder: Path) -> None:
        self.kubelet = kubelet
        self.folder = folder
        self.plugins: dict[int, Plugin] = {}

    def register(self, step: Step) -> str:
        """Start a plugin, and return the kubelet's words where it is refused."""
        plugin = self.plugins[step.number] = Plugin(self.folder, step)
        if plugin.mode == "flaps-in-allocate":
            plugin.script.allocate = self._flapping(plugin, plugin.script.allocate)
        try:
            plugin.register(step.resource)
        except grpc.RpcError as problem:
            return f"{problem.code()} {problem.details()}"
        wait_until("the stream", lambda: plugin.streams > 0)
        return ""

    def send(self, step: Step) -> None:
        """Let a plugin send a list, and wait until the kubelet has dealt with it."""
        plugin = self.plugins[step.number]
        self._heard(plugin, lambda: plugin.send(step))

    def lose(self, number: int, *, by_stream: bool = False) -> None:
        """Let a plugin die, at once or after an end of its stream."""
        plugin = self.plugins.pop(number)
        if by_stream:
            plugin.end_stream()
            self.settle({number: plugin})
        plugin.stop()
        self.settle()

    def settle(self, others: dict[int, Plugin] | None = None) -> None:
        """Wait until the kubelet has drawn its conclusions from ends of streams."""
        calm = 0

        def is_calm() -> bool:
            nonlocal calm
            watched = sum(each.streams for each in {**self.plugins, **(others or {})}.values())
            calm = calm + 1 if self.kubelet.streams() == watched else 0
            return calm >= _CALM

        wait_until("the ends of streams", is_calm)

    def calls(self) -> list[tuple[int, list[str]]]:
        """Return what the plugins were asked since the last time."""
        found = [(number, list(each.calls)) for number, each in self.plugins.items()]
        for each in self.plugins.values():
            each.calls.clear()
        return found

    def _heard(self, plugin: Plugin, send: Callable[[], None]) -> None:
        before = self.kubelet.lists(plugin.resource)
        send()
        if plugin.streams:
            wait_until("the list", lambda: self.kubelet.lists(plugin.resource) > before)

    def _flapping(self, plugin: Plugin, allocate: _Allocate) -> _Allocate:
        """Let every device become unhealthy, and the first one healthy, before the answer."""

        def flap(request: AllocateRequest) -> AllocateResponse | str:
            for health in ("Unhealthy", "Healthy"):
                for device in plugin.newest[:2]:
                    device.health = health
                self._heard(plugin, lambda: plugin.list(plugin.newest))
            return allocate(request)

        return flap
