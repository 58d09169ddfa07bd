"""A node serves several resources, and the kubelet loses one of them."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.6",
    fleet="mig",
    en="Resources of one node fail one by one: each has a stream to the kubelet of its own",
    zh="同一节点上的几种资源各断各的：每种资源都有自己的一条流",
    zh_why="""
    plugin 对每个资源名各开一个 socket、各注册一次，
    kubelet 也为每个资源名各维持一条 ListAndWatch 流。其中一条断了，
    只有这一种资源的 allocatable 变成 0，同一进程里的其他资源照常分配。所以排查时要逐个资源看，
    不能只看 plugin 的 Pod 是不是 Running。
    """,
    tags=("vendors", "registration"),
)
def one_resource_of_a_node_is_lost(lab: Lab) -> None:
    """A plugin has a socket for each resource, whatever vendors they are of, and so has a kubelet.

    Here the stream of one ends and cannot be had again, while process and pod are well: what the
    node has of this name is 0, and the others are given out as before. Source: Kubernetes'
    pkg/kubelet/cm/devicemanager/manager.go.
    """
    node, lost = lab.node("mixed-0"), "nvidia.com/mig-1g.10gb"
    node.fault("ListAndWatch", resource=lost, fails="the driver does not answer")
    node.fault("Register", resource=lost, fails="gone")
    node.remove_socket(lost)
    lab.expect(node).allocatable(0, lost).capacity(2, lost)
    for other in ("nvidia.com/mig-2g.20gb", "nvidia.com/gpu"):
        lab.expect(node).keeps(1, other, lasting=1)
        name = other.partition("/")[2].replace(".", "-")
        lab.expect(lab.submit(pod(name, limits={other: 1}, node=node.name))).running()
    late = lab.submit(pod("late", limits={lost: 1}))
    lab.expect(late).stays_pending(because=f"Insufficient {lost}")
    node.plugin.clear()
    lab.expect(late).running().holds_devices(1)
