"""Whether images can be pulled, known within two seconds.

A learner behind a blocked registry must not wait for a pull that cannot succeed.
"""

import threading
import urllib.error
import urllib.request
from queue import Empty, SimpleQueue
from typing import Final

from lab.host.docker import Engine

REGISTRY: Final = "https://registry-1.docker.io/v2/"
_PROBE_SECONDS: Final = 1.2


def can_pull(engine: Engine, registry: str = REGISTRY) -> bool:
    """Return whether the engine can be expected to pull from Docker Hub."""
    # A mirror is the engine's to reach, not ours; where one is set, Docker Hub seldom answers.
    return bool(engine.mirrors) or reachable(registry)


def reachable(registry: str) -> bool:
    """Return whether the registry answers at all (a 401 is an answer), within about a second.

    Asked in a thread that is left behind: neither the look-up of the name nor the trial of one
    address after the other, where a firewall swallows packets, keeps to a time of ours.
    """
    answer: SimpleQueue[bool] = SimpleQueue()
    threading.Thread(target=lambda: answer.put(_answers(registry)), daemon=True).start()
    try:
        return answer.get(timeout=_PROBE_SECONDS)
    except Empty:
        return False


def _answers(registry: str) -> bool:
    request = urllib.request.Request(registry, method="HEAD")  # noqa: S310 - a constant of ours
    try:
        with urllib.request.urlopen(request, timeout=_PROBE_SECONDS):  # noqa: S310 - as above
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
