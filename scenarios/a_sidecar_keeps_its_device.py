"""A sidecar that needs a device of its own, beside the container that it serves."""

from lab.harness import Lab, container, pod, scenario


@scenario(
    section="4.5.2",
    fleet="h100-and-l4",
    en="A sidecar keeps its device beside the main container: a pod counts both",
    zh="sidecar 和主容器同时占着各自的设备，整个 Pod 按两者之和计算",
    zh_why="""
    restartPolicy 为 Always 的 init 容器就是 sidecar：它先启动，然后一直陪着主容器跑。
    它的设备不会像普通 init 容器那样交出去，所以要相加：1 + 7 正好用满 8 张卡，
    再来一个只要 1 张的 Pod 也放不下了。
    """,
    tags=("containers", "scheduling"),
)
def a_sidecar_keeps_its_device(lab: Lab) -> None:
    """An init container with restartPolicy Always runs on beside the others, and hands nothing on.

    So it is added to them: one and seven take all of eight. Source: Kubernetes'
    pkg/kubelet/cm/devicemanager/manager.go.
    """
    node = lab.node("h100-0")
    sidecar = container("sidecar", limits={lab.resource: 1}, restartPolicy="Always")
    main = container("main", limits={lab.resource: 7})
    served = lab.submit(pod("served", initContainers=[sidecar], containers=[main], node=node.name))
    lab.expect(served).running().each_container_has_its_own()
    lab.expect(served).holds_devices(1, container="sidecar").holds_devices(7, container="main")
    late = lab.submit(pod("late", limits={lab.resource: 1}, node=node.name))
    lab.expect(late).stays_pending(because=f"Insufficient {lab.resource}")
