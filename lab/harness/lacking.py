"""What a lab cannot do that a test needs: reason to skip the test, and not to fail it."""

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from lab.cluster.access import ABILITIES, Ability

if TYPE_CHECKING:
    from lab.cluster.objects import Node
    from lab.install.status import RunningLab

#: What there has to be in a cluster, whatever can be done to its nodes.
Trait = Literal["tainted_control_plane"]
Need: TypeAlias = Ability | Trait
NEEDS: Final[tuple[Need, ...]] = (*ABILITIES, *get_args(Trait))
#: Of kubeadm's control planes, label and taint have one key.
_CONTROL_PLANE: Final = "node-role.kubernetes.io/control-plane"
#: The scheduler places no pod by these that does not tolerate the taint.
_EFFECTS: Final = frozenset({"NoSchedule", "NoExecute"})


def lacking(running: "RunningLab", needs: AbstractSet[str]) -> str:
    """Return what is needed and is not to be had on a lab's nodes, in words; "" for nothing."""
    missing = sorted(needs & {*ABILITIES} - running.access.can)
    if missing:
        return f"the backend {running.record.backend} cannot {', '.join(missing)} here"
    if "tainted_control_plane" not in needs:
        return ""
    if any(map(_is_tainted_control_plane, running.client.nodes())):
        return ""
    return "no node of the cluster is a control plane with its usual taint"


def _is_tainted_control_plane(node: "Node") -> bool:
    keys = {key for key, _, effect in node.taints if effect in _EFFECTS}
    return _CONTROL_PLANE in node.labels and _CONTROL_PLANE in keys
