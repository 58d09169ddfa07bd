"""The file that explains CDI names is not where the runtime looks for it."""

from lab.harness import Lab, pod, scenario

FILE = "/var/run/cdi/k8s.device-plugin.nvidia.com-gpu.json"


@scenario(
    section="4.5.5",
    fleet="h100-and-l4",
    en="Without its CDI file a device is allocated, and its container cannot be created",
    zh="CDI 文件不见了：设备已经分配成功，容器却创建不出来",
    zh_why="""
    用 CDI 时，plugin 只给名字，kubelet 也不检查；容器运行时到节点上找不到定义这个名字的文件，
    才会报错。Pod 停在 CreateContainerError，事件里写着 unresolvable CDI devices，
    设备则一直被它占着。文件回来以后，kubelet 的下一次重试就会成功，Pod 不用重建。
    """,
    tags=("cdi", "containers"),
    needs=("run",),
)
def a_cdi_name_without_its_file(lab: Lab) -> None:
    """Neither plugin nor kubelet looks whether a name is explained: the runtime is the first to.

    Unlike a failed Allocate this is no rejection. The pod keeps its device, its container waits,
    and the kubelet tries again: it runs once the file is back.
    """
    node = lab.node("l4-0")
    node.hide(FILE)
    one = lab.submit(pod("one", limits={lab.resource: 1}, node=node.name))
    lab.expect(one).waiting(because="CreateContainerError")
    lab.expect(one).waiting(
        because="unresolvable CDI devices k8s.device-plugin.nvidia.com/gpu=GPU-"
    )
    node.bring_back(FILE)
    lab.expect(one).running(within=120).holds_devices(1)
