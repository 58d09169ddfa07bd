"""A GPU that its plugin no longer finds, while a pod holds it."""

from lab.harness import Lab, pod, scenario

GPU = "nvidia.com/gpu"


@scenario(
    section="4.5.1",
    fleet="h100-and-l4",
    en="A GPU that a new scan does not find is missing everywhere but in the pod that holds it",
    zh="掉卡之后重新扫描：节点上少了一张，占着它的 Pod 却照样显示 Running",
    zh_why="""
    掉卡的瞬间（XID 79），plugin 只把它标成 Unhealthy：allocatable 变小，capacity 不变。
    等 plugin 重新扫描硬件（比如重启）以后，列表里就没有它了，capacity 也跟着变小。
    可是 Kubernetes 不会动那个 Pod：容器还在跑，里面的程序只会看到 CUDA 报错，
    要靠 operator 或者程序自己的健康检查来发现。
    账上它仍然占着那张卡，所以卡插回来也不会分给别人，直到这个 Pod 走了为止。
    """,
    tags=("health", "vendors"),
)
def gpu_falls_off_the_bus(lab: Lab) -> None:
    """What a plugin's scan does not find is not in its list, so capacity falls as well.

    When the card falls off, its plugin calls it unhealthy first, and capacity stays; a plugin that
    starts anew does not see it any more.

    The pod is not touched: its program gets errors from CUDA, and Kubernetes calls it Running. It
    has to be found by somebody, an operator or a probe. In the kubelet's accounts it holds the
    card, so that the card is nobody else's when it is back: of two that the node then has, the
    kubelet has one to give. Source: Kubernetes,
    pkg/kubelet/cm/devicemanager/manager.go, genericDeviceUpdateCallback.
    """
    node = lab.node("l4-0")
    holder = lab.submit(pod("holder", limits={GPU: 1}, node=node.name))
    lab.expect(holder).running()
    (lost,) = lab.expect(holder).devices()
    with lab.expect(holder).undisturbed(lasting=2):
        node.break_device(lost, xid=79)
        lab.expect(node).allocatable(1).capacity(2)
        node.unplug(lost)
        lab.expect(node).capacity(1).allocatable(1)
        node.plug(lost)
        node.mend(lost)
        lab.expect(node).capacity(2).allocatable(2)
    both = lab.submit(pod("both", limits={GPU: 2}, nodeName=node.name))
    lab.expect(both).rejected(because="Requested: 2, Available: 1")
    other = lab.submit(pod("other", limits={GPU: 1}, node=node.name))
    lab.expect(other).running().holds_devices(1).sees_only_its_devices()
