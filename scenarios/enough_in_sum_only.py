"""A pod that asks for more devices than one node has, though all nodes together have them."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.10.5",
    fleet="h100-and-l4",
    tags=("oversubscription", "scheduling"),
    en="Devices of two nodes do not add up for one pod",
    zh="两个节点的设备不能凑给同一个 Pod",
    zh_why="""
    一个 Pod 只在一个节点上运行：8 张加 2 张，凑不出一个要 9 张的 Pod，集群总数够也没有用。
    要跨节点用卡，得拆成多个 Pod，由训练框架去组网；
    还要防止它们只起来一半就互相等，这是 Volcano、Kueue 这类 gang 调度要解决的事。
    """,
)
def enough_in_sum_only(lab: Lab) -> None:
    """A pod is on one node: of 8 and 2 cards it cannot have 9, though there are 10.

    What needs more is several pods that a framework joins, and that have to come all at once or
    not at all. No preemption can help, and the message says so.
    """
    spread = lab.submit(pod("nine", limits={lab.resource: 9}))
    lab.expect(spread).stays_pending(because=f"Insufficient {lab.resource}")
    lab.expect(spread).stays_pending(because="Preemption is not helpful", lasting=0)
    whole = lab.submit(pod("eight", limits={lab.resource: 8}))
    lab.expect(whole).on(lab.node("h100-0").name)
