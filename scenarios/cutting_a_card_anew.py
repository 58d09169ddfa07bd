"""A card is cut into other slices while the node is in use."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.9",
    fleet="mig",
    en="After a card was cut anew, the name of the old slices stays on the node, with none left",
    zh="卡重新切分以后，旧规格的资源名还留在节点上，只是数量变成 0",
    zh_why="""
    换了切法，plugin 注册的就是新的资源名；旧名字没人再上报，kubelet 下一次写 status 时
    allocatable 变成 0，capacity 要等 5 分钟的宽限期过去才归零，
    而这个键会一直留在节点上，除非有人去改 status。
    监控和脚本要认「0」，不能认「键不存在」。申请旧规格的 Pod 会一直 Pending，不会自动改用新规格；
    而在 status 更新之前就被调度过来的，会被 kubelet 拒绝，直接 Failed。
    """,
    tags=("mig", "registration"),
)
def cutting_a_card_anew(lab: Lab) -> None:
    """A kubelet does not forget the name of a resource whose plugin has gone.

    None can be given out any more, and the node's next status says so; the capacity is 0 after five
    minutes of grace, and the key stays until somebody patches the node's status. So what waits for
    it to be absent waits for ever. A pod that is bound before that status has failed for good.
    Sources: kubernetes/kubernetes#52510,
    NVIDIA/k8s-device-plugin#728.
    """
    old, new = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"
    lab.expect(lab.node("mixed-0")).allocatable(2, old).allocatable(1, new)
    lab.place("mig-cut-anew")
    node = lab.node("mixed-0")
    lab.expect(node).allocatable(0, old).capacity(2, old)
    lab.expect(node).allocatable(2, new).allocatable(1, "nvidia.com/gpu")
    lab.wait_for_scheduler(node)
    late = lab.submit(pod("late", limits={old: 1}))
    lab.expect(late).stays_pending(because=f"Insufficient {old}")
    lab.expect(lab.submit(pod("next", limits={new: 1}))).running().holds_devices(1)
