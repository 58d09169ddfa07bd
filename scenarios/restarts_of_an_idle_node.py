"""Whatever restarts on a node whose devices nobody holds."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.10.7",
    en="Whatever restarts on an idle node, all of its devices are back afterwards",
    zh="空闲节点上不管重启什么，设备最后都会全部回来",
    zh_why="""
    plugin、kubelet、整台节点，重启的是哪个都一样：plugin 重新注册、发来完整的列表，数字就恢复了。
    每次重启之后，都有一个 Pod 把两张全拿到手，证明它们确实能用。
    没有 Pod 占着设备，就没有谁会准入失败；节点重启之所以麻烦，麻烦的是上面的 Pod，不是设备。
    所以维护之前先排空节点，之后只要等 allocatable 回到原来的数。
    """,
    tags=("restart", "registration"),
    needs=("restart", "restart_kubelet"),
    deadline=400,
)
def restarts_of_an_idle_node(lab: Lab) -> None:
    """The plugin registers anew and sends its whole list, and the numbers are what they were.

    Where no pod holds devices, none can fail to be admitted again: what makes a reboot hard is the
    pods on the node, and not its devices. So a node is drained before, and afterwards one waits for
    its allocatable. That all are back is seen by a pod that gets both, after each restart. Compare
    kubernetes/kubernetes#125579 for a node that was not.
    """
    node = lab.node()
    options = "GetDevicePluginOptions"
    asked = len(node.calls(options))
    restarts = (node.restart_kubelet, node.restart, node.restart_plugin, node.kill_plugin)
    for restart in (*restarts, lab.roll_out_plugins):
        restart()
        # The kubelet asks the same plugin once more; a new one has not been asked before.
        times = asked + 1 if restart == node.restart_kubelet else 1
        lab.expect(node).asked(options, times, within=90).allocatable(2, within=90).capacity(2)
        # A pod that comes before the kubelet has its pods again is refused what deleted ones had.
        for name, limits in (("plain", {}), ("user", {lab.resource: 2})):
            user = lab.submit(pod(name, limits=limits, node=node.name))
            lab.expect(user).running(within=90).holds_devices(len(limits) * 2)
            lab.delete(user)
