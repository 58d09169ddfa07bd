"""A card that several pods share breaks."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.9",
    fleet="shared-cards",
    en="When a shared card breaks, all of its shares are gone at once",
    zh="共享的卡一坏，它的所有份额同时不可用",
    zh_why="""
    份额只是同一张卡的多个名字，卡坏了，::0 到 ::3 四个设备一起变成 Unhealthy，
    allocatable 从 4 直接掉到 0。占着份额的 Pod 不会被驱逐，但它们用的是同一张坏卡：
    影响面是所有共享者，而不是一个 Pod。
    """,
    tags=("sharing", "health"),
)
def a_broken_card_takes_its_shares_along(lab: Lab) -> None:
    """Shares are names of one card: what breaks it takes all of them, and hits all who hold one.

    Nobody is evicted, as with any device that breaks in use.
    """
    node, shared = lab.node("slices-0"), "nvidia.com/gpu.shared"
    pods = [lab.submit(pod(f"holder-{number}", limits={shared: 1})) for number in range(2)]
    for each in pods:
        lab.expect(each).running()
    first, second = (lab.expect(each).undisturbed() for each in pods)
    with first, second:
        node.break_device("slices/0", xid=79)
        lab.expect(node).allocatable(0, shared).capacity(4, shared)
    lab.wait_for_scheduler(node)
    late = lab.submit(pod("late", limits={shared: 1}))
    lab.expect(late).stays_pending(because=f"Insufficient {shared}")
    node.mend("slices/0")
    lab.expect(node).allocatable(4, shared)
    lab.expect(late).running().sees_the_devices_of(lab.expect(pods[0]))
