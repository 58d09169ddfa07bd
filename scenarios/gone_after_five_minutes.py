"""A node without its device plugin, for more than five minutes."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    fleet="sticky-and-prepared",
    en="Five minutes after its plugin has gone a node has no devices; who holds one keeps it",
    zh="plugin 离开五分钟后节点上的设备归零，占着设备的 Pod 继续运行",
    zh_why="""
    plugin 一走，kubelet 下一次写 status 时 allocatable 就变成 0；
    capacity 要等五分钟宽限期过了，在下一次写 status 时才变成 0。
    资源名不会删除，只是数字为 0；在跑的 Pod 一直拿着它的设备。
    但它的容器这时要是重启，就会停在 CreateContainerConfigError，等 plugin 回来才能继续。
    plugin 回来重新注册，一切恢复，正在用的设备也不会再分给别人。
    写告警时要注意：只看 capacity，会晚五分钟才发现 plugin 没了。
    """,
    tags=("restart", "health"),
    slow=True,
    deadline=480,
)
def gone_after_five_minutes(lab: Lab) -> None:
    """The kubelet forgets the devices of a plugin at its first status after five minutes.

    The name of the resource stays, with 0 devices, and the pods that hold some keep them as
    long as their containers run; one that starts again waits for the plugin. An alarm
    that looks at capacity is five minutes late. Source: Kubernetes,
    pkg/kubelet/cm/devicemanager/manager.go, GetCapacity; kubernetes/kubernetes#60176.
    """
    node = lab.node("prepared-0")
    holder = lab.submit(pod("holder", limits={node.resource: 1}))
    lab.expect(holder).running()
    with lab.expect(holder).undisturbed():
        node.stop_plugin()
        lab.expect(node).allocatable(0).keeps(2, of="capacity", lasting=280)
        lab.expect(node).capacity(0, within=100).allocatable(0)
        node.start_plugin()
        late = lab.submit(pod("late", limits={node.resource: 1}))
        lab.expect(late).running().sees_only_its_devices()
    lab.expect(node).allocatable(2).capacity(2)
