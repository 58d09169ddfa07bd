"""A node without its device plugin, for less than five minutes."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    en="While a plugin is away its devices count, but none is given out",
    zh="plugin 暂时不在：设备还算在 capacity 里，但一个也分不出去",
    zh_why="""
    ListAndWatch 的流一断，kubelet 就把这个资源的设备全部当成 Unhealthy，
    下一次写节点 status（默认每十秒一次）时 allocatable 变成 0。
    capacity 在五分钟宽限期内不变，为的是给 plugin 升级、重启留出时间。
    已经在跑的 Pod 不受影响；新的 Pod 先 Pending，plugin 回来才能跑。
    status 更新之前就被调度过来的 Pod 没这么好运：kubelet 拒绝它，状态变成 Failed，不会再好。
    """,
    tags=("restart", "health"),
)
def plugin_away_for_a_moment(lab: Lab) -> None:
    """When the stream of ListAndWatch ends, the kubelet holds all of its devices for unhealthy.

    Capacity stays for five minutes, so that an upgrade of the plugin does not make a node without
    GPUs of it. What runs is not touched; what is new waits, once the node's status
    tells: a pod that is bound before that has failed for good. Source: Kubernetes,
    pkg/kubelet/cm/devicemanager/manager.go, endpointStopGracePeriod.
    """
    node = lab.node()
    holder = lab.submit(pod("holder", limits={lab.resource: 1}))
    lab.expect(holder).running()
    with lab.expect(holder).undisturbed():
        node.stop_plugin()
        lab.expect(node).allocatable(0).capacity(2)
        lab.wait_for_scheduler(node)
        late = lab.submit(pod("late", limits={lab.resource: 1}))
        lab.expect(late).stays_pending(because=f"Insufficient {lab.resource}")
        node.start_plugin()
        lab.expect(late).running().sees_only_its_devices()
    lab.expect(node).allocatable(2).capacity(2)
