"""What a node's plugin has told its kubelet, and whether the node shows it already."""

from collections.abc import Collection, Iterable, Iterator

from lab.cluster.objects import Node
from lab.cluster.plugin.journal import Call
from lab.cluster.plugin.overview import Facts, Resource
from lab.harness.sight import MET, NotYet, Sight


def announced(
    facts: Facts, open_calls: Iterable[Call], rivals: Collection[str]
) -> tuple[Resource, ...]:
    """Return the resources whose devices a node is going to show as its plugin has them.

    Not one that the kubelet does not watch, nor one whose list met a fault: it may be held back, or
    be wrong. Nor one that flaps, which is otherwise before it is shown, nor a name of `rivals`,
    that another plugin serves, too: the kubelet may go by that one.
    """
    held = spoiled(open_calls)
    flapping = {unit for flap in facts.flaps if flap.every for unit in flap.units}
    return tuple(
        each
        for each in facts.resources
        if each.registered
        and each.name not in held
        and each.name not in rivals
        and flapping.isdisjoint(_hardware(each))
    )


def spoiled(open_calls: Iterable[Call]) -> frozenset[str]:
    """Return the resources whose list has met a fault, which it goes by as long as it is open."""
    lists = (each for each in open_calls if each.call == "ListAndWatch")
    return frozenset(each.resource for each in lists if each.fault)


def shown(node: Node, resources: Iterable[Resource]) -> Sight:
    """Return whether a node shows so many devices, and so many healthy ones."""
    late = [
        f"{each.name}: announced are {each.healthy} healthy of {each.count}, the node shows "
        f"{node.allocatable.get(each.name, 0)} allocatable of {node.capacity.get(each.name, 0)}"
        for each in resources
        if node.allocatable.get(each.name, 0) != each.healthy
        or node.capacity.get(each.name, 0) != each.count
    ]
    return NotYet("\n".join(late)) if late else MET


def _hardware(resource: Resource) -> Iterator[str]:
    for each in resource.devices:
        yield from (each.unit, each.card)
