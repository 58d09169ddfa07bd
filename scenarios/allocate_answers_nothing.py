"""A device plugin whose answer to Allocate is empty."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    en="An empty answer to Allocate costs the pod its life, and the node a device for a while",
    zh="Allocate 回了个空应答：Pod 失败，设备还会漏掉一个",
    zh_why="""
    应答里一个容器都没有，kubelet 就拒绝 Pod；可是它已经把选中的设备记成“已分配”，却忘了还回去。
    节点仍然显示 2 个，scheduler 也以为有 2 个，
    要 2 个的 Pod 到了 kubelet 那里才被拒绝：Available: 1。
    等到有一个用过设备的 Pod 走了，kubelet 下次分配时重新对账，漏掉的设备才回来。
    """,
    tags=("allocate",),
)
def allocate_answers_nothing(lab: Lab) -> None:
    """The kubelet has marked the device as given out, refuses the pod, and does not take it back.

    The node goes on showing two devices, and the scheduler believes it. The accounts are put right
    when a pod that did hold a device has gone: at the next allocation the kubelet counts anew what
    its pods hold. Source: Kubernetes, pkg/kubelet/cm/devicemanager/manager.go,
    allocateContainerResources and UpdateAllocatedDevices.
    """
    node = lab.node()
    node.fault("Allocate", nth=1, answers="empty")
    unlucky = lab.submit(pod("unlucky", limits={lab.resource: 1}))
    lab.expect(unlucky).rejected(because="no containers return in allocation response")
    both = lab.submit(pod("both", limits={lab.resource: 2}))
    lab.expect(both).rejected(
        because="requested number of devices unavailable for "
        f"{lab.resource}. Requested: 2, Available: 1"
    )
    lab.expect(node).keeps(2, lasting=2)
    one = lab.submit(pod("one", limits={lab.resource: 1}))
    lab.expect(one).running()
    lab.delete(one)
    lab.expect(lab.submit(pod("again", limits={lab.resource: 2}))).running().holds_devices(2)
