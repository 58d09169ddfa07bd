"""The whole answer to GET /metrics."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from fake_plugin.hardware.reading import Reading
from fake_plugin.inventory import Inventory
from fake_plugin.journal import Journal
from fake_plugin.metrics import amd, ascend, dcgm, own, unified
from fake_plugin.metrics.exposition import exposition
from fake_plugin.metrics.families import Family
from fake_plugin.metrics.history import History
from fake_plugin.metrics.meter import Meter
from fake_plugin.metrics.pod_resources import Answer, PodResources
from fake_plugin.metrics.readings import take_readings


class Endpoint:
    """Renders the metrics of a node, and keeps what adds up. Safe to use from several threads.

    Make one as the plugin starts: errors are counted, and energy adds up, from then on.
    `pod_resources` is the kubelet's socket, None where there is no kubelet to ask; `journal` is
    that of the plugin's calls, None where there is nobody who calls.
    """

    def __init__(
        self,
        inventory: Inventory,
        pod_resources: Path | None = None,
        journal: Journal | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._inventory = inventory
        self._pod_resources = PodResources(pod_resources) if pod_resources else None
        self._journal = journal or Journal()
        self._clock = clock
        self._meter = Meter()
        self._history = History(inventory.board)

    def render(self, style: dcgm.Style | None = None) -> bytes:
        """Return the text; `style` chooses among what NVIDIA's exporter can be told to print."""
        return b"".join(self.pieces(style))

    def pieces(self, style: dcgm.Style | None = None) -> Iterator[bytes]:
        """Return the text bit by bit, of one moment all the same."""
        return exposition(self._families(style or dcgm.Style()))

    def readings(self) -> tuple[Reading, ...]:
        """Return what the hardware tells at this moment."""
        return self._read(self._answer(), self._clock())

    def _answer(self) -> Answer | None:
        return self._pod_resources.answer() if self._pod_resources else None

    def _read(self, answer: Answer | None, now: float) -> tuple[Reading, ...]:
        holders = answer.holders if answer else {}
        return take_readings(self._inventory, holders, now, self._meter)

    def _families(self, style: dcgm.Style) -> Iterator[Family]:
        inventory, answer, now = self._inventory, self._answer(), self._clock()
        readings = self._read(answer, now)
        yield from dcgm.families(readings, self._history, inventory.node, style)
        yield from amd.families(readings, self._history, inventory.node)
        yield from ascend.families(readings, now)
        yield from unified.families(readings, self._history, inventory.node)
        yield from own.families(inventory, self._journal.tally(), answer)
