"""An init container that uses more devices than the main one."""

from lab.harness import Lab, container, pod, scenario


@scenario(
    section="4.5.2",
    fleet="h100-and-l4",
    en="What an init container had beyond the main one's devices stays taken while the pod lives",
    zh="init 容器多用的设备，主容器用不上也不归还，直到 Pod 结束",
    zh_why="""
    init 容器用 8 张卡做预处理，主容器只要 1 张：init 跑完以后，另外 7 张并不会释放。
    scheduler 按较大值 8 记账，kubelet 也把它们留在这个 Pod 名下，只是没有容器看得到。
    别的 Pod 只能 Pending。预处理用卡多，就拆成单独的 Job。
    """,
    tags=("containers", "scheduling"),
)
def an_init_containers_surplus_stays_taken(lab: Lab) -> None:
    """A pod counts as its largest moment, for as long as it lives, and its devices stay its own.

    Seven cards are idle, and seen by no container; nobody else gets them. What needs many only to
    begin with is better a job of its own. Source: kubernetes/kubernetes#71312.
    """
    node = lab.node("h100-0").name
    init = container("init", limits={lab.resource: 8}, script="echo $GPULAB_VISIBLE_DEVICES")
    main = container("main", limits={lab.resource: 1})
    large = lab.submit(pod("large", initContainers=[init], containers=[main], node=node))
    lab.expect(large).running().holds_devices(1, container="main")
    late = lab.submit(pod("late", limits={lab.resource: 1}, node=node))
    lab.expect(late).stays_pending(because=f"Insufficient {lab.resource}")
    lab.delete(large)
    lab.expect(late).running().holds_devices(1)
