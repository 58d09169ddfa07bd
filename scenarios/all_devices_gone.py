"""Every card is taken out of a node."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    en="With the last card the number falls to 0, and the name of the resource stays",
    zh="最后一张卡拔掉之后数字变成 0，但资源名还留在节点上",
    zh_why="""
    拔掉的卡不在 plugin 的列表里，所以 capacity 和 allocatable 一起变小；
    这和“坏了”不同，坏卡仍算在 capacity 里。
    列表空了，kubelet 写的是 0，并不删除这个资源名：
    检查“有没有 GPU”要看数字，不能看资源名在不在。
    """,
    tags=("health", "scheduling"),
)
def all_devices_gone(lab: Lab) -> None:
    """A card that is not there leaves the list, so capacity falls with allocatable.

    A list without devices is a list: the kubelet writes 0 and keeps the name. Whoever asks whether
    a node has GPUs must look at the number. Source: kubernetes/kubernetes#52510, #92396.
    """
    node = lab.node()
    node.unplug("chapter/0", "chapter/1")
    lab.expect(node).capacity(0).allocatable(0)
    lab.wait_for_scheduler(node)
    early = lab.submit(pod("early", limits={lab.resource: 1}))
    lab.expect(early).stays_pending(because=f"Insufficient {lab.resource}")
    node.plug("chapter/0", "chapter/1")
    lab.expect(node).capacity(2).allocatable(2)
    lab.expect(early).running().holds_devices(1)
