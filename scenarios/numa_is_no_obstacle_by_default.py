"""A kubelet without a topology policy, and a plugin with a wish."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    fleet="h100-and-l4",
    en="By default cards of several NUMA nodes are given out together, and the plugin prefers one",
    zh="默认策略下，卡可以跨 NUMA 节点分配；plugin 会尽量挑同一个 NUMA 节点的",
    zh_why="""
    Topology Manager 的默认策略是 none：kubelet 不管卡在哪个 NUMA 节点上，
    6 张卡跨两个节点也照样分配。能放进一个 NUMA 节点的，
    靠 plugin 在 GetPreferredAllocation 里表达偏好；这只是建议，凑不齐时 kubelet 不会拒绝 Pod，
    只是跨节点访问会慢一些。
    """,
    tags=("numa", "allocate"),
)
def numa_is_no_obstacle_by_default(lab: Lab) -> None:
    """The kubelet's policy is `none` unless somebody sets another: nobody is rejected.

    What fits on one NUMA node is there all the same, since the plugin says so when it is asked for
    its preference. Six of eight cards are of both nodes, and the pod learns of it by its speed.
    """
    node = lab.node("h100-0")
    four = lab.submit(pod("four", limits={node.resource: 4}, node=node.name))
    lab.expect(four).running().holds_devices(4).on_numa_nodes(1)
    lab.delete(four)
    six = lab.submit(pod("six", limits={node.resource: 6}, node=node.name))
    lab.expect(six).running().holds_devices(6).on_numa_nodes(2)
