"""Makes an answer to GET /metrics: who holds what, what the hardware tells, and all as text."""

from collections.abc import Iterator
from pathlib import Path

from fake_plugin.hardware.reading import Reading
from fake_plugin.metrics import amd, ascend, dcgm, own, unified
from fake_plugin.metrics.exposition import exposition
from fake_plugin.metrics.families import Family
from fake_plugin.metrics.history import History
from fake_plugin.metrics.meter import Meter
from fake_plugin.metrics.pod_resources import Answer, PodResources
from fake_plugin.metrics.readings import take_readings
from fake_plugin.metrics.style import Style
from fake_plugin.resources.inventory import Inventory
from fake_plugin.serving.journal import Journal


class Scraper:
    """Looks at a node, and keeps what adds up from look to look."""

    def __init__(
        self, inventory: Inventory, pod_resources: Path | None, journal: Journal, history: History
    ) -> None:
        self._inventory = inventory
        self._pod_resources = PodResources(pod_resources) if pod_resources else None
        self._journal = journal
        self._history = history
        self._meter = Meter()

    def pieces(self, style: Style, now: float) -> Iterator[bytes]:
        """Return the text bit by bit; `now` is in seconds since the epoch."""
        answer = self._answer()
        readings = self._read(answer, now)
        return exposition(self._families(readings, answer, style, now))

    def readings(self, now: float) -> tuple[Reading, ...]:
        """Return what the hardware tells."""
        return self._read(self._answer(), now)

    def _answer(self) -> Answer | None:
        return self._pod_resources.answer() if self._pod_resources else None

    def _read(self, answer: Answer | None, now: float) -> tuple[Reading, ...]:
        holders = answer.holders if answer else {}
        return take_readings(self._inventory, holders, now, self._meter)

    def _families(
        self, readings: tuple[Reading, ...], answer: Answer | None, style: Style, now: float
    ) -> Iterator[Family]:
        history, node = self._history, self._inventory.node
        yield from dcgm.families(readings, history, node, style)
        yield from amd.families(readings, history, node)
        yield from ascend.families(readings, now)
        yield from unified.families(readings, history, node)
        yield from own.families(self._inventory, self._journal.tally(), answer)
