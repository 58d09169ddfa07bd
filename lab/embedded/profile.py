"""What differs between the versions of Kubernetes that the lab imitates, by one frozen table.

A switch is named for what the newer behaviour is; what is the same in all versions is not here.
Sources: the feature gates of each release (pkg/features/kube_features.go) and the changes that are
named beside the switches.
"""

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True)
class Profile:
    """The behaviour of one minor version, such as "1.36"."""

    version: str
    #: A pod's status has the health of its devices (gate ResourceHealthStatus).
    shows_device_health: bool
    #: Dynamic resource allocation serves extended resources too (gate DRAExtendedResource).
    allocates_extended_resources_by_claim: bool
    #: Several plugins may serve one resource, each known by its socket (#135437).
    keeps_plugins_apart: bool
    #: After a restart, a container runs if any of its IDs does (#135485).
    looks_at_every_container_id: bool
    #: Topology hints are made of the NUMA nodes that have devices, not of the machine's.
    hints_at_nodes_with_devices_only: bool
    #: A change of health is told to pods that hold the ID under this resource, not under any.
    finds_pods_by_resource: bool
    #: What FailedScheduling says before the words of preemption.
    post_filter_prefix: str


_OLDEST: Final = Profile(
    version="1.34",
    shows_device_health=False,
    allocates_extended_resources_by_claim=False,
    keeps_plugins_apart=False,
    looks_at_every_container_id=False,
    hints_at_nodes_with_devices_only=False,
    finds_pods_by_resource=False,
    post_filter_prefix="no new claims to deallocate, ",
)
_1_35: Final = replace(_OLDEST, version="1.35", looks_at_every_container_id=True)
_1_36: Final = replace(
    _1_35,
    version="1.36",
    shows_device_health=True,
    allocates_extended_resources_by_claim=True,
    hints_at_nodes_with_devices_only=True,
)
_NEWEST: Final = replace(
    _1_36,
    version="1.37",
    keeps_plugins_apart=True,
    finds_pods_by_resource=True,
    post_filter_prefix="",
)

#: By version, the oldest first.
PROFILES: Final = MappingProxyType(
    {profile.version: profile for profile in (_OLDEST, _1_35, _1_36, _NEWEST)}
)
