"""An error that the plugin passes over, and one after which a card tells nothing any more."""

from lab.harness import Lab, pod, scenario

GPU = "nvidia.com/gpu"
XID = "DCGM_FI_DEV_XID_ERRORS"


@scenario(
    section="4.5.2",
    fleet="h100-and-l4",
    en="Of an Xid that the plugin passes over only the metrics tell; Kubernetes counts the card",
    zh="有些 XID 只有监控指标里看得到：plugin 忽略了它，Kubernetes 照样认为卡是好的",
    zh_why="""
    XID 31 这类错误通常是应用自己写错了内存，plugin 不把它算作坏卡，allocatable 一张也不少；
    想知道它发生过，只能看 dcgm-exporter 的 DCGM_FI_DEV_XID_ERRORS。
    XID 79 是另一回事：卡掉了，plugin 会少报一张，指标里也只剩下最后那个 XID，
    温度、功耗都读不到了。所以告警要按 XID 写，不能写成「温度过高」，更不能只盯着节点的数字。
    """,
    tags=("health", "vendors"),
)
def a_metric_tells_what_kubernetes_does_not(lab: Lab) -> None:
    """NVIDIA's plugin takes some Xids for the application's fault, and the card for sound.

    Who wants to know of them reads the exporter's metrics. After Xid 79, the card is off the bus:
    the plugin counts it out, and all that can still be read of it is that Xid. Source:
    NVIDIA/k8s-device-plugin, internal/rm/health.go.
    """
    node = lab.node("l4-0")
    worker = lab.submit(pod("worker", limits={GPU: 1}, node=node.name))
    lab.expect(worker).running()
    (held,) = lab.expect(worker).devices()
    node.break_device(held, xid=31)
    lab.expect(node).metric(XID, 31, UUID=held, pod="worker").keeps(2, GPU, lasting=2)
    lab.expect(node).metric("DCGM_FI_DEV_GPU_TEMP", "> 0", UUID=held)
    node.mend(held)
    node.break_device(held, xid=79)
    lab.expect(node).metric(XID, 79, UUID=held).no_metric("DCGM_FI_DEV_GPU_TEMP", UUID=held)
    lab.expect(node).allocatable(1, GPU).capacity(2, GPU)
