"""What the scheduler says of a control plane, where a pod asks for too many devices."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.10.5",
    tags=("oversubscription", "errata"),
    needs=("tainted_control_plane",),
    erratum=2,
    en="Of a tainted control plane the scheduler tells the taint, not that devices are missing",
    zh="控制面节点报的是污点，不是设备不足",
    zh_why="""
    scheduler 对每个节点只报第一个不通过的检查，污点排在资源前面。
    控制面节点默认带污点，所以它从来不会算进 Insufficient 的个数里：
    本章 4.10.5 写的“2 Insufficient”，在一主一从的集群上实际是 1 个 Insufficient、1 个污点。
    看这类事件，先把各类节点数加起来，应该正好等于节点总数。
    """,
)
def control_plane_tells_its_taint(lab: Lab) -> None:
    """Of each node the first check that fails is told, and taints come before resources.

    So the numbers in the message add up to that of the nodes. The chapter has `2 Insufficient`
    where one of the two nodes is a control plane with its usual taint (pkg/scheduler/framework/
    types.go, FitError).
    """
    nodes = lab.view.nodes.all()
    tainted = [
        node for node in nodes if any(effect != "PreferNoSchedule" for *_, effect in node.taints)
    ]
    numbers = {
        f"Insufficient {lab.resource}": len(nodes) - len(tainted),
        "node(s) had untolerated taint(s)": len(tainted),
    }
    reasons = sorted(f"{number} {reason}" for reason, number in numbers.items())
    greedy = lab.submit(pod("greedy", limits={lab.resource: 3}))
    because = f"0/{len(nodes)} nodes are available: {', '.join(reasons)}."
    lab.expect(greedy).stays_pending(because=because)
