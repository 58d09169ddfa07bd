"""Two pods, each with a device of its own."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.10.4",
    tags=("allocate",),
    en="Each pod sees the device that it was given, and no other",
    zh="每个 Pod 只看得到分配给自己的设备",
    zh_why="""
    kubelet 为每个容器挑选设备 ID，再向 plugin 发 Allocate；
    plugin 的应答决定容器里有哪些环境变量、设备文件和挂载。
    两个 Pod 各申请 1 个设备，得到的是不同的两个。
    """,
)
def two_pods_two_devices(lab: Lab) -> None:
    """The kubelet chooses the IDs; the plugin's answer to Allocate is all that a container sees.

    Two pods that ask for one device each get two different ones.
    """
    first = lab.submit(pod("first", limits={lab.resource: 1}))
    second = lab.submit(pod("second", limits={lab.resource: 1}))
    for each in (first, second):
        lab.expect(each).running().holds_devices(1).sees_only_its_devices()
