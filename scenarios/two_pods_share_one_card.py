"""One card, offered four times."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.9",
    fleet="shared-cards",
    en="With time-slicing the node shows more cards than it has, and pods see the same one",
    zh="开了时间片，节点上的「卡数」比实际多，几个 Pod 看到的是同一张卡",
    zh_why="""
    时间片只是 plugin 把同一张卡上报 4 次（ID 为 <uuid>::0 到 ::3），
    kubelet 和 scheduler 看到的就是 4 个设备。两个 Pod 各拿 1 个，用的却是同一张物理卡：显存不隔离，
    算力轮流用，一个写爆显存会连累另一个。开了 renameByDefault，资源名变成 nvidia.com/gpu.shared，
    免得有人误以为拿到的是整卡。
    """,
    tags=("sharing", "allocate"),
)
def two_pods_share_one_card(lab: Lab) -> None:
    """The plugin lists a card four times, as <uuid>::0 and so on: nobody else knows that it is one.

    There is no limit on memory and no fence between the two. The name nvidia.com/gpu.shared comes
    with renameByDefault, so that nobody takes a share for a card: nvidia.com/gpu is then not there.
    Source: NVIDIA/k8s-device-plugin, README.md.
    """
    node, shared = lab.node("slices-0"), "nvidia.com/gpu.shared"
    lab.expect(node).allocatable(4, shared).capacity(4, shared).offers_no("nvidia.com/gpu")
    first = lab.submit(pod("first", limits={shared: 1}))
    second = lab.submit(pod("second", limits={shared: 1}))
    lab.expect(first).running().holds_devices(1)
    lab.expect(second).running().holds_devices(1).sees_the_devices_of(lab.expect(first))
    whole = lab.submit(pod("whole", limits={"nvidia.com/gpu": 1}))
    lab.expect(whole).stays_pending(because="Insufficient nvidia.com/gpu")
