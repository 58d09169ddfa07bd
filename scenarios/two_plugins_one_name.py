"""Two plugins on a node that serve the same resource."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.6",
    tags=("registration", "vendors"),
    en="Two plugins of one resource do not add up: the list that came last counts",
    zh="同一个资源名的两个 plugin 不会相加，最后收到的列表说了算",
    zh_why="""
    kubelet 按资源名记账，一个名字只有一份设备列表：谁的列表最后到就用谁的，数量不是两者之和。
    1.37 以前更糟：后来的一退出，kubelet 就当作没有设备了，
    先来的那个还活着、连接也没断，却没有人再用它，除非它重新注册。
    从 1.37 起，后来的走了，kubelet 还会继续听先来的：它下一次发来的列表照样算数。
    结论：一个节点上，一个资源名只装一个 plugin。
    """,
)
def two_plugins_one_name(lab: Lab) -> None:
    """A kubelet keeps one list of devices for a resource, that of whoever has sent one last.

    Up to 1.36 it also forgets the first plugin: when the second one ends, there are no devices,
    though the first is alive and its stream is open (kubernetes/kubernetes#121994, #127803). From
    1.37 on it falls back on what is left, whose next list counts then.
    """
    node = lab.node()
    second = lab.bring_plugin(node, "second", lab.resource, count=3)
    lab.expect(node).capacity(3).allocatable(3)
    user = lab.submit(pod("user", limits={lab.resource: 1}))
    lab.expect(user).holds_devices(1)
    lab.expect(second).logs("told the kubelet how a container gets its devices")
    lab.delete(second)
    if lab.keeps_rival_plugins:
        node.break_device("chapter/0")
        lab.expect(node).allocatable(1).capacity(2)
    else:
        lab.expect(node).allocatable(0).capacity(3)
