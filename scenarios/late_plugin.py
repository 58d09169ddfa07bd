"""A pod that is there before its devices are."""

from lab.harness import Lab, pod, scenario

RESOURCE = "late.example.com/device"


@scenario(
    section="4.5.2",
    tags=("registration",),
    en="A pod may come before its plugin: it waits, and runs when the devices are registered",
    zh="Pod 可以比 plugin 先到：它会等着，设备一注册就开始运行",
    zh_why="""
    scheduler 只看节点 status 里的数字，不关心 plugin 有没有起来；资源名还不存在，就当作 0 个。
    plugin 起来以后依次注册、上报列表，kubelet 再写进 allocatable，
    这个变化会唤醒排队的 Pod，不需要重建它。
    所以装机时先提交业务、后装 plugin 也没有问题，只是要等。
    """,
)
def late_plugin(lab: Lab) -> None:
    """The scheduler reads numbers of nodes; a resource that no node has counts as 0 of it.

    Once a plugin registers, the kubelet writes its devices into the node's status, and that wakes
    the pods that wait for them. Here the plugin holds its registration back for a while.
    """
    user = lab.submit(pod("early", limits={RESOURCE: 1}))
    lab.expect(user).stays_pending(because=f"Insufficient {RESOURCE}", lasting=0)
    late = {"call": "Register", "delay": "2s"}
    plugin = lab.bring_plugin(lab.node(), "late", RESOURCE, faults=[late])
    lab.expect(plugin).logs("not registered until it is over")
    lab.expect(user).stays_pending(because=f"Insufficient {RESOURCE}", lasting=1)
    lab.expect(lab.node()).allocatable(1, RESOURCE)
    lab.expect(user).holds_devices(1)
