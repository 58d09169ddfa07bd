"""Why a pod was not admitted, in the kubelet's words (kubelet.go:rejectPod, cm/admission)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rejection:
    """The pod is Failed for good: it is neither tried again nor deleted."""

    reason: str
    #: As the event has it, which is a Warning.
    message: str

    @property
    def status_message(self) -> str:
        """Return what the status of the pod has for a message."""
        return f"Pod was rejected: {self.message}"


def unexpected(problem: str) -> Rejection:
    """Return what becomes of any failure to allocate devices."""
    return Rejection(
        "UnexpectedAdmissionError", f"Allocate failed due to {problem}, which is unexpected"
    )


def topology_affinity() -> Rejection:
    """Return what the topology manager says where its policy allows no placement."""
    return Rejection(
        "TopologyAffinityError", "Resources cannot be allocated with Topology locality"
    )


def out_of(resource: str, requested: int, used: int, capacity: int) -> Rejection:
    """Return what the kubelet says where the node has less than the pod needs."""
    return Rejection(
        f"OutOf{resource}",
        f"Node didn't have enough resource: {resource}, requested: {requested}, "
        f"used: {used}, capacity: {capacity}",
    )
