"""What the container runtime said of containers when the kubelet started."""

import random
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class ContainerRecord:
    """A container of a pod, running or exited; a restarted one has several records."""

    pod_uid: str
    name: str
    running: bool = True


class Snapshot:
    """Tells which containers ran over a restart of the kubelet (#118559)."""

    def __init__(self, records: Iterable[ContainerRecord], rng: random.Random) -> None:
        self._records = tuple(records)
        self._rng = rng

    def was_running(self, pod_uid: str, name: str, *, every_id: bool) -> bool:
        """Tell whether the container ran.

        Where not `every_id`, one of its records is looked at, whichever comes first: a container
        that was restarted may be taken for one that exited (up to 1.34, #135485).
        """
        records = [each for each in self._records if (each.pod_uid, each.name) == (pod_uid, name)]
        if not records:
            return False
        if every_id:
            return any(each.running for each in records)
        return self._rng.choice(records).running
