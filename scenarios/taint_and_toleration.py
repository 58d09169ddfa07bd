"""A node with a taint, and pods that tolerate it or do not."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.6",
    fleet="two-pools",
    tags=("scheduling", "vendors"),
    en="A taint keeps pods from a node with free devices, unless they tolerate it",
    zh="有污点的节点，设备再空也进不去，除非 Pod 容忍它",
    zh_why="""
    给 GPU 节点打污点，是为了不让普通 Pod 占住它的 CPU 和内存；
    代价是申请 GPU 的 Pod 也要写 toleration。
    忘了写，报的是 untolerated taint，不是资源不足，别去数卡。
    托管集群常用准入控制器 ExtendedResourceToleration 自动补上；kind 和 kubeadm 默认都没有开。
    """,
)
def taint_and_toleration(lab: Lab) -> None:
    """A taint keeps out whoever does not name it, whatever they ask for.

    It is there so that other pods do not fill the node; those that want its devices have to
    tolerate it. The admission plugin ExtendedResourceToleration would do that for them, and is off
    by default.
    """
    node = lab.node("nvidia-0")
    without = lab.submit(pod("without", limits={"nvidia.com/gpu": 1}))
    tolerant = lab.submit(pod("with", limits={"nvidia.com/gpu": 1}, tolerates=["nvidia.com/gpu"]))
    lab.expect(tolerant).running().on(node.name).holds_devices(1)
    lab.expect(without).stays_pending(because="node(s) had untolerated taint(s)")
    node.untaint("nvidia.com/gpu")
    lab.expect(without).on(node.name)
