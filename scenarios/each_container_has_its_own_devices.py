"""Two containers of one pod that ask for devices, and one that asks for none."""

from lab.harness import Lab, container, pod, scenario


@scenario(
    section="4.5.3",
    fleet="h100-and-l4",
    en="Devices belong to a container and not to its pod: who asks for none sees none",
    zh="设备属于容器，不属于 Pod：没申请的容器一张卡也看不到",
    zh_why="""
    limits 写在容器上，kubelet 也是逐个容器发 Allocate：同一个 Pod 里的两个容器各拿各的，不能共用。
    没写 limits 的容器（日志收集之类）拿不到设备、变量和工具，连 nvidia-smi 都找不到。
    Pod 申请的总数是各容器之和。
    """,
    tags=("containers", "allocate"),
)
def each_container_has_its_own_devices(lab: Lab) -> None:
    """Limits are a container's, and Allocate is called for each container: nothing is shared.

    A container beside them that asks for nothing gets no device, no variable and no tool. The pod
    counts as the sum. Source: Kubernetes' pkg/kubelet/cm/devicemanager/manager.go.
    """
    plain = container("plain", script="nvidia-smi -L || echo no tool; exec sleep 86400")
    trainer = lab.submit(
        pod(
            "trainer",
            containers=[
                container("first", limits={lab.resource: 3}),
                container("second", limits={lab.resource: 5}),
                plain,
            ],
            node=lab.node("h100-0").name,
        )
    )
    lab.expect(trainer).running().each_container_has_its_own()
    lab.expect(trainer).holds_devices(3, container="first").holds_devices(5, container="second")
    lab.expect(trainer).holds_devices(0, container="plain").logs("no tool", container="plain")
