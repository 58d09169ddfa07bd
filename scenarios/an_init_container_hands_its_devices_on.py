"""An init container uses devices, and is done before the main one begins."""

from lab.harness import Lab, container, pod, scenario


@scenario(
    section="4.5.2",
    fleet="h100-and-l4",
    en="An init container hands its devices on to the main one: a pod counts the larger of both",
    zh="init 容器用完的设备会交给主容器，整个 Pod 只按较大的那个数计算",
    zh_why="""
    init 容器先跑完、再启动主容器，两者不会同时用卡。所以 scheduler 取两者的较大值，不是相加：
    init 要 8 张、主容器也要 8 张，8 张卡的节点放得下。
    kubelet 给主容器分配时，优先拿 init 容器用过的那几张，因此主容器看到的正是同样的设备。
    """,
    tags=("containers", "allocate"),
)
def an_init_container_hands_its_devices_on(lab: Lab) -> None:
    """Init containers end before the others begin, so the scheduler takes the larger of both sums.

    Eight and eight fit on a node of eight. The kubelet takes what the init container had before it
    looks at what is free. What an init container had beyond that stays taken for the pod's life.
    Sources: Kubernetes' pkg/kubelet/cm/devicemanager/manager.go, kubernetes/kubernetes#71312.
    """
    node = lab.node("h100-0")
    both = lab.submit(
        pod(
            "init-and-main",
            initContainers=[
                container("init", limits={lab.resource: 8}, script="echo $GPULAB_VISIBLE_DEVICES")
            ],
            containers=[container("main", limits={lab.resource: 8})],
            node=node.name,
        )
    )
    lab.expect(both).running().holds_devices(8, container="main")
    for device in lab.expect(both).devices(container="main"):
        lab.expect(both).logs(device, container="init")
