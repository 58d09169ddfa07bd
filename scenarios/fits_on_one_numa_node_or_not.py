"""A kubelet that gives a pod the cards of one NUMA node, or nothing."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    fleet="h100-and-l4",
    en="With the policy single-numa-node, a pod that no NUMA node has room for is rejected",
    zh="策略为 single-numa-node 时，单个 NUMA 节点放不下的 Pod 会被拒绝",
    zh_why="""
    8 张卡分在两个 NUMA 节点上，每边 4 张。scheduler 只看总数：申请 6 张也会调度过来；
    节点上的 kubelet 才按拓扑检查，任何一个 NUMA 节点都凑不出 6 张，
    于是以 TopologyAffinityError 拒绝。拒绝是最终结果：Pod 变成 Failed，不会换节点重试。
    申请 4 张则放得下，而且一定在同一个 NUMA 节点上。
    """,
    tags=("numa", "allocate"),
    needs=("run", "restart_kubelet"),
)
def fits_on_one_numa_node_or_not(lab: Lab) -> None:
    """The scheduler counts cards; it is the kubelet that looks at where they are, and too late.

    Of eight cards four are on each NUMA node. Six are free on the node, so the scheduler sends the
    pod there, and its kubelet finds no NUMA node with six: the pod has failed for good. NUMA nodes
    that only the plugin knows, and not the machine, never match. Source: Kubernetes'
    pkg/kubelet/cm/devicemanager/topology_hints.go.
    """
    node = lab.node("h100-0")
    node.configure_kubelet(topologyManagerPolicy="single-numa-node")
    # Until a kubelet has seen all its pods once, devices of those that have gone are taken to it.
    lab.expect(lab.submit(pod("without-devices", node=node.name))).running()
    lab.expect(node).allocatable(8)
    four = lab.submit(pod("four", limits={node.resource: 4}, node=node.name))
    lab.expect(four).running().holds_devices(4).on_numa_nodes(1)
    lab.delete(four)
    six = lab.submit(pod("six", limits={node.resource: 6}, node=node.name))
    lab.expect(six).rejected(
        "TopologyAffinityError", because="Resources cannot be allocated with Topology locality"
    )
