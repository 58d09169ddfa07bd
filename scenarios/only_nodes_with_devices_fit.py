"""Where a pod that asks for a device goes."""

from lab.harness import Lab, pod, scenario

ANY = [{"operator": "Exists"}]


@scenario(
    section="4.10.5",
    tags=("scheduling",),
    en="A pod that asks for a device goes to a node that has one to spare",
    zh="申请设备的 Pod，只会调度到还有空余设备的节点",
    zh_why="""
    scheduler 的 Filter 阶段逐个节点算账：allocatable 减去已有 Pod 的申请，够就留下，不够就淘汰。
    没有这种资源的节点当作 0 个，所以不写任何亲和性，Pod 也不会落到没有设备的节点上。
    这里的 Pod 容忍所有污点，控制面没被选上，只因为它没有这种设备；
    设备分完以后再来一个，每个节点都报 Insufficient。
    scheduler 只选节点；具体给哪一张卡，是 kubelet 之后才决定的。
    """,
)
def only_nodes_with_devices_fit(lab: Lab) -> None:
    """The scheduler subtracts what pods have asked for from what a node can give out.

    A node without the resource has 0 of it, so no affinity is needed. The pods here tolerate every
    taint: nothing but the devices keeps them from another node, and where all are in use, each node
    lacks some. The scheduler chooses the
    node; which device it is, the kubelet decides later (pkg/scheduler/framework/plugins/
    noderesources/fit.go).
    """
    node = lab.node()
    for name in ("first", "second"):
        user = lab.submit(pod(name, limits={lab.resource: 1}, tolerations=ANY))
        lab.expect(user).on(node.name).event("Scheduled", because=node.name)
    third = lab.submit(pod("third", limits={lab.resource: 1}, tolerations=ANY))
    all_of_them = len(lab.view.nodes.all())
    lab.expect(third).stays_pending(because=f"{all_of_them} Insufficient {lab.resource}")
