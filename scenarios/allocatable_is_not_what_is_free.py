"""The three numbers of a resource: capacity, allocatable and what is free."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.2",
    tags=("scheduling", "health"),
    en="Pods take nothing from allocatable; broken devices do",
    zh="allocatable 不会因为 Pod 用了卡而变少，坏了卡才会",
    zh_why="""
    capacity 是 plugin 上报的总数，allocatable 是其中健康的个数，两者都与谁在用无关。
    “还剩几张”不在节点的任何字段里：要用 allocatable 减去这个节点上所有 Pod 的申请，
    scheduler 心里算的、kubectl describe node 里 Allocated resources 列的，就是这笔账。
    看到 allocatable 没变就以为“没分出去”，看到它变少就以为“被人用了”，都是错的。
    """,
)
def allocatable_is_not_what_is_free(lab: Lab) -> None:
    """Capacity counts all devices, allocatable the healthy ones; neither says who uses them.

    What is free is in no field of a node: it is allocatable without what the node's pods ask for
    (NVIDIA/k8s-device-plugin#58, #213, #452).
    """
    node = lab.node()
    lab.expect(node).capacity(2).allocatable(2).requested(0)
    user = lab.submit(pod("user", limits={lab.resource: 1}))
    lab.expect(user).running()
    lab.expect(node).requested(1).keeps(2, lasting=2).capacity(2)
    both = lab.submit(pod("both", limits={lab.resource: 2}))
    lab.expect(both).stays_pending(because=f"Insufficient {lab.resource}", lasting=0)
    node.break_device("chapter/0")
    lab.expect(node).allocatable(1).capacity(2).requested(1)
