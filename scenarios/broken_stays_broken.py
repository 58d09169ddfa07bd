"""A device that is broken while those who look at it restart."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.10.7",
    en="A restart of plugin or kubelet mends no hardware",
    zh="重启 plugin 或 kubelet，修不好硬件",
    zh_why="""
    健康状态在卡上，不在看卡的进程里：plugin 重启后重新检查，照样报 Unhealthy；
    kubelet 重启后从 plugin 那里重新拿到列表，结果也一样。
    “重启一下就好了”，多半是监控没有再看，而不是卡好了。
    """,
    tags=("health", "restart"),
    needs=("restart_kubelet",),
)
def broken_stays_broken(lab: Lab) -> None:
    """Health is the card's and not that of the process that looks at it.

    The plugin looks again after its restart, and the kubelet gets the list anew after its own: of
    two devices it has one to give, as is seen by a pod that asks it for both past the scheduler.
    """
    node = lab.node()
    node.break_device("chapter/0")
    lab.expect(node).allocatable(1).capacity(2)
    node.stop_plugin()
    lab.expect(node).allocatable(0).capacity(2)
    node.start_plugin()
    lab.expect(node).allocatable(1).capacity(2)
    options = "GetDevicePluginOptions"
    asked = len(node.calls(options))
    node.restart_kubelet()
    lab.expect(node).asked(options, asked + 1, within=30)
    # A pod that comes before the kubelet has its pods again is refused what deleted ones had.
    lab.expect(lab.submit(pod("plain", node=node.name))).running()
    both = lab.submit(pod("both", limits={lab.resource: 2}, nodeName=node.name))
    lab.expect(both).rejected(because="Requested: 2, Available: 1")
    lab.expect(node).allocatable(1).capacity(2)
    node.mend("chapter/0")
    lab.expect(node).allocatable(2)
