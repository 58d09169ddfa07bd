"""Plugins of others: what a node has to give before the lab's own plugin is on it.

A kubelet keeps one list of devices for a resource, that of whoever registered last. Two plugins of
one resource would take it from each other at each restart, and real devices would look fake.
"""

from collections.abc import Iterable
from pathlib import Path

from lab.cluster.objects import Node
from lab.core.errors import UsageError
from lab.core.fleet import Fleet
from lab.host.processes import pasteable
from lab.install.deployment import NODE_LABEL
from lab.install.rollout import wanted_by


def refuse_rivals(
    nodes: Iterable[Node], fleet: Fleet, earlier: Fleet | None, kubeconfig: Path
) -> None:
    """Refuse a placed fleet one of whose nodes already gives out one of its resources.

    What the lab's own earlier fleet put there is no rival. Where that fleet is not known, nodes
    that carry the lab's label are passed over. A key that is left of a plugin that has gone is 0.
    Raises `UsageError`.
    """
    wanted = wanted_by(fleet)
    ours = wanted_by(earlier) if earlier else {}
    for node in nodes:
        if earlier is None and NODE_LABEL in node.labels:
            continue
        foreign = wanted.get(node.name, {}).keys() - ours.get(node.name, {}).keys()
        for resource in sorted(foreign):
            if number := node.allocatable.get(resource, 0):
                raise _rival(node.name, resource, number, kubeconfig)


def _rival(node: str, resource: str, number: int, kubeconfig: Path) -> UsageError:
    there = ("-A", "--field-selector", f"spec.nodeName={node}")
    return UsageError(
        f"another plugin serves {resource} on a node of the fleet",
        where=node,
        seen=f"{resource}: {number} allocatable, and the lab has not put it there",
        remedy="remove that plugin from the node, or give the pool another resource or node; "
        "nothing was changed",
        commands=(pasteable(("kubectl", "--kubeconfig", str(kubeconfig), "get", "pods", *there)),),
    )
