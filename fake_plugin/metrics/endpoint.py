"""Where GET /metrics is answered."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fake_plugin.metrics.history import History
from fake_plugin.metrics.style import Style
from fake_plugin.resources.inventory import Inventory
from fake_plugin.serving.journal import Journal

if TYPE_CHECKING:
    from fake_plugin.hardware.reading import Reading
    from fake_plugin.metrics.scraper import Scraper

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Endpoint:
    """Renders the metrics of a node. Safe to use from several threads.

    Make one as the plugin starts, for errors are counted from then on; all that it takes to answer
    is imported with the first question. `pod_resources` is the kubelet's socket, None where there
    is no kubelet to ask; `journal` is that of the plugin's calls, None where nobody calls.
    """

    def __init__(
        self,
        inventory: Inventory,
        pod_resources: Path | None = None,
        journal: Journal | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._inventory = inventory
        self._pod_resources = pod_resources
        self._journal = journal or Journal()
        self._clock = clock
        self._history = History(inventory.board)
        self._lock = threading.Lock()
        self._made: Scraper | None = None

    def render(self, style: Style | None = None) -> bytes:
        """Return the text; `style` chooses among what NVIDIA's exporter can be told to print."""
        return b"".join(self.pieces(style))

    def pieces(self, style: Style | None = None) -> Iterator[bytes]:
        """Return the text bit by bit, of one moment all the same."""
        return self._scraper().pieces(style or Style(), self._clock())

    def readings(self) -> "tuple[Reading, ...]":
        """Return what the hardware tells at this moment."""
        return self._scraper().readings(self._clock())

    def _scraper(self) -> "Scraper":
        with self._lock:
            if self._made is None:
                from fake_plugin.metrics.scraper import Scraper  # noqa: PLC0415 - see above

                self._made = Scraper(
                    self._inventory, self._pod_resources, self._journal, self._history
                )
            return self._made
