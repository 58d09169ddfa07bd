"""Slices are free, and a pod asks for whole cards."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.9",
    fleet="mig",
    en="By the strategy mixed, free slices do not serve a pod that asks for whole cards",
    zh="mixed 策略下，空闲的切片满足不了申请整卡的 Pod",
    zh_why="""
    对 scheduler 来说，nvidia.com/gpu 和 nvidia.com/mig-… 是互不相干的两种资源，只按名字数个数。
    节点上 2 张卡，一张切开、一张完整：nvidia.com/gpu 只有 1。
    申请 2 张整卡的 Pod 会一直 Pending，哪怕切片全都空着；反过来，整卡也不会为了小申请临时切开。
    """,
    tags=("mig", "scheduling"),
)
def whole_cards_are_not_made_of_slices(lab: Lab) -> None:
    """To the scheduler the two names are two resources, and nothing turns one into the other.

    Of two cards one is cut: 1 nvidia.com/gpu is left, however free the slices are. Nor is the whole
    card cut because somebody asks for slices: the third pod of 1g.10gb waits, too.
    """
    node = lab.node("mixed-0").name
    whole = lab.submit(pod("two-cards", limits={"nvidia.com/gpu": 2}, node=node))
    lab.expect(whole).stays_pending(because="Insufficient nvidia.com/gpu")
    slices = [
        lab.submit(pod(f"slice-{number}", limits={"nvidia.com/mig-1g.10gb": 1}))
        for number in range(3)
    ]
    for each in slices[:2]:
        lab.expect(each).running()
    lab.expect(slices[2]).stays_pending(because="Insufficient nvidia.com/mig-1g.10gb")
    one_card = lab.submit(pod("one-card", limits={"nvidia.com/gpu": 1}, node=node))
    lab.expect(one_card).running().holds_devices(1)
