"""A pod that is bound to a node by hand, and asks for what nobody has."""

from lab.harness import Lab, pod, scenario

NOBODYS = "nobody.example.com/device"


@scenario(
    section="4.5.2",
    en="Bound to a node by hand, a pod runs without the devices that nobody has heard of",
    zh="绕过 scheduler 直接指定节点，申请一个没人认识的资源，Pod 照样运行，却没有设备",
    zh_why="""
    写了 nodeName，scheduler 就不参与；kubelet 只核对它认识的资源，
    不认识的名字既不拒绝，也不会有人去调 Allocate。
    结果是 Pod 在 Running，容器里却什么设备都没有：排查“看不到卡”时要想到这一条。
    """,
    tags=("scheduling", "allocate"),
)
def past_the_scheduler_nobody_asks(lab: Lab) -> None:
    """With nodeName the scheduler is not asked, and a kubelet passes over names it does not know.

    Nothing is allocated and nothing is refused: the container starts without a device
    (kubernetes/kubernetes#116125).
    """
    bound = lab.submit(pod("bound", limits={NOBODYS: 1}, nodeName=lab.node().name))
    lab.expect(bound).running().holds_devices(0)
