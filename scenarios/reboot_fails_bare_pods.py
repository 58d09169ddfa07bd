"""A node that reboots, with a bare pod and a Deployment's pod on its devices."""

from lab.harness import Lab, deployment, pod, scenario


@scenario(
    section="4.10.7",
    en="After a reboot a pod with devices has failed for good; a Deployment brings a new one",
    zh="节点重启之后，占着设备的 Pod 彻底失败；Deployment 会补上新的",
    zh_why="""
    节点重启后，kubelet 先准入原来的 Pod，而那时 plugin 自己的 Pod 还没起来，一个健康设备都没有。
    准入失败是终态：裸 Pod 停在 UnexpectedAdmissionError，再也不会恢复；
    Deployment 会建新 Pod，等 plugin 注册之后就能跑。失败的那个对象留在原地，直到有人清理。
    所以用 GPU 的负载不要用裸 Pod。
    """,
    tags=("restart", "allocate"),
    needs=("restart",),
)
def reboot_fails_bare_pods(lab: Lab) -> None:
    """The kubelet admits its pods anew, before the plugin's own pod runs: no device is healthy.

    That verdict is final. The bare pod stays Failed; a Deployment makes another, which runs when
    the plugin has registered, and the failed one stays until somebody removes it. Sources:
    kubernetes/kubernetes#125579, #124934, #119248, #133382.
    """
    node = lab.node()
    bare = lab.submit(pod("bare", limits={lab.resource: 1}))
    kept = lab.submit(deployment("kept", limits={lab.resource: 1}))
    lab.expect(bare).running()
    lab.expect_replicas(kept).running(1)
    node.restart()
    lost = "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices"
    lab.expect(bare).rejected(because=f"{lost} {lab.resource}, which is unexpected", within=90)
    lab.expect_replicas(kept).rejected(because=lost).running(1, within=90).rejected(because=lost)
    lab.expect(bare).rejected(because=lost)
