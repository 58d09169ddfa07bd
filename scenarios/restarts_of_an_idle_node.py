"""Whatever restarts on a node whose devices nobody holds."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.10.7",
    en="Whatever restarts on an idle node, all of its devices are back afterwards",
    zh="空闲节点上不管重启什么，设备最后都会全部回来",
    zh_why="""
    plugin、kubelet、整台节点，重启的是哪个都一样：plugin 重新注册、发来完整的列表，数字就恢复了。
    没有 Pod 占着设备，就没有谁会准入失败；节点重启之所以麻烦，麻烦的是上面的 Pod，不是设备。
    所以维护之前先排空节点，之后只要等 allocatable 回到原来的数。
    """,
    tags=("restart", "registration"),
    needs=("restart", "restart_kubelet"),
)
def restarts_of_an_idle_node(lab: Lab) -> None:
    """The plugin registers anew and sends its whole list, and the numbers are what they were.

    Where no pod holds devices, none can fail to be admitted again: what makes a reboot hard is the
    pods on the node, and not its devices. So a node is drained before, and afterwards one waits for
    its allocatable. Compare kubernetes/kubernetes#125579 for a node that was not.
    """
    node = lab.node()
    options = "GetDevicePluginOptions"
    asked = len(node.calls(options))
    node.restart_kubelet()
    lab.expect(node).asked(options, asked + 1, within=30).allocatable(2).capacity(2)
    for restart in (node.restart, node.restart_plugin, node.kill_plugin, lab.roll_out_plugins):
        restart()
        lab.expect(node).allocatable(2, within=90).capacity(2)
    user = lab.submit(pod("user", limits={lab.resource: 2}))
    lab.expect(user).running().holds_devices(2)
