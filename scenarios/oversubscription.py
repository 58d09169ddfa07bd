"""A pod that asks for more devices than any node has."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.10.5",
    tags=("oversubscription", "scheduling"),
    en="A pod that asks for too much stays Pending",
    zh="超额申请的 Pod 会一直 Pending",
    zh_why="""
    节点只有 2 个设备，Pod 却申请 3 个：scheduler 找不到放得下它的节点，Pod 就一直 Pending。
    事件的后半句说的是抢占：每个节点都是 Preemption is not helpful，赶走谁都没用。
    这不是错误，也不会超时；只要有节点的 allocatable 够了，它就会被调度。
    """,
)
def oversubscription(lab: Lab) -> None:
    """Extended resources are not overcommitted: 3 of 2 devices fit on no node.

    The scheduler says so in an event and in the pod's condition, and tries again whenever a node
    changes. Of preemption it says that it helps on no node: whoever gave way, 3 would not fit.
    Nothing times out, and nothing is wrong with the pod.
    """
    greedy = lab.submit(pod("gpu-oversub", limits={lab.resource: 3}))
    lab.expect(greedy).stays_pending(because=f"Insufficient {lab.resource}")
    useless = f"{len(lab.view.nodes.all())} Preemption is not helpful for scheduling"
    lab.expect(greedy).stays_pending(because=useless, lasting=0)
    lab.expect(greedy).event("FailedScheduling", because=f"Insufficient {lab.resource}")
