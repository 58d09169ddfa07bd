"""A device that breaks while a pod holds it."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    en="A pod whose device breaks runs on, and the device is not given out again",
    zh="设备坏了，占着它的 Pod 照常运行，但这个设备不会再分给别人",
    zh_why="""
    健康状态只影响以后的分配：kubelet 不驱逐、不重启正在用坏卡的 Pod。
    从 1.36 起，Pod 的 status 里会写明它手里的哪个设备是 Unhealthy；
    要不要迁走，得由你或 operator 决定。
    Pod 删除以后，坏卡仍然不会分配出去，直到它修好。
    """,
    tags=("health", "allocate"),
)
def unhealthy_while_in_use(lab: Lab) -> None:
    """Health filters what is given out from now on; nobody is evicted, and nothing restarts.

    A kubelet from 1.36 on names the device in the pod's allocatedResourcesStatus: whoever is to
    move the pod can read it there. When the pod has gone, the device is passed over until it is
    mended. Sources: kubernetes/kubernetes#60388, KEP-4680.
    """
    node = lab.node()
    holder = lab.submit(pod("holder", limits={lab.resource: 1}))
    lab.expect(holder).running()
    (broken,) = lab.expect(holder).devices()
    with lab.expect(holder).undisturbed(lasting=2):
        node.break_device(broken)
        lab.expect(node).allocatable(1).capacity(2)
        if lab.tells_device_health:
            lab.expect(holder).holds_unhealthy(broken)
    lab.delete(holder)
    lab.expect(lab.submit(pod("next", limits={lab.resource: 1}))).running()
    late = lab.submit(pod("late", limits={lab.resource: 1}))
    lab.expect(late).stays_pending(because=f"Insufficient {lab.resource}")
    node.mend(broken)
    lab.expect(late).running().sees_only_its_devices()
