"""The contract: all checks, in the order in which they are made.

What only looks comes first; what ends the plugin, or leaves it refused, comes last.
"""

from typing import Final

from lab.conformance.check import Check
from lab.conformance.checks import (
    allocation,
    answers,
    ends,
    listing,
    optional,
    registration,
    restarts,
)
from lab.conformance.trial import Trial

GROUPS: Final[dict[str, tuple[Check[Trial], ...]]] = {
    "Registration": (
        registration.registers,
        registration.version,
        registration.resource_name,
        registration.endpoint,
        registration.listens_first,
        registration.options,
    ),
    "The list of devices": (
        listing.first_list,
        listing.list_size,
        listing.ids,
        listing.health,
        listing.numa,
        listing.stream_stays,
        listing.second_stream,
        listing.stream_cancelled,
    ),
    "Allocate": (
        allocation.allocate,
        allocation.allocate_again,
        allocation.allocate_several,
        allocation.allocate_per_container,
        allocation.allocate_unknown,
        allocation.allocate_concurrent,
        answers.answer_envs,
        answers.answer_mounts,
        answers.answer_devices,
        answers.answer_cdi,
    ),
    "Calls that may be offered": (optional.preferred, optional.pre_start),
    "Restarts and ends": (
        restarts.registers_once,
        restarts.unrelated_files,
        restarts.kubelet_restart,
        restarts.socket_removed,
        ends.sigterm,
        ends.socket_gone,
        ends.restart_after_kill,
        ends.ids_stable,
        restarts.refused,
        restarts.recovers,
    ),
}
CHECKS: Final = tuple(each for group in GROUPS.values() for each in group)
