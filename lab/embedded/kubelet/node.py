"""What a kubelet runs on, how it is set up, and what outlives it."""

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lab.embedded.clock import Clock
from lab.embedded.kubelet.journal import Journal
from lab.embedded.kubelet.misbehaviour import Misbehaviour
from lab.embedded.kubelet.roster import Roster
from lab.embedded.kubelet.topology import Policy
from lab.embedded.profile import PROFILES, Profile

#: Between two updates of the node's status.
TICK_SECONDS: Final = 10.0


@dataclass(frozen=True)
class Settings:
    """How a kubelet is set up."""

    profile: Profile = PROFILES["1.36"]
    #: The topology manager's.
    policy: Policy = Policy.NONE
    #: The NUMA nodes of the machine.
    numa_nodes: tuple[int, ...] = (0,)
    tick_seconds: float = TICK_SECONDS
    #: Where the pod-resources API is served; nowhere where it is None.
    pod_resources: Path | None = None
    #: What every random pick comes from.
    seed: int = 0
    #: Whether the file DEPRECATION is there: where it is, upstream's library for plugins does not
    #: call Register, as the kubelet is to find it in plugins_registry (plugin/v1beta1/stub.go).
    deprecation_file: bool = True


@dataclass(frozen=True)
class Node:
    """A node and its kubelet's surroundings; `folder` has the sockets of the plugins.

    On a real node that is /var/lib/kubelet/device-plugins. `tell` takes the UIDs of pods whose
    devices have become better or worse.
    """

    folder: Path
    settings: Settings
    clock: Clock
    rng: random.Random
    roster: Roster
    journal: Journal
    misbehaviour: Misbehaviour
    tell: Callable[[Collection[str]], None]
