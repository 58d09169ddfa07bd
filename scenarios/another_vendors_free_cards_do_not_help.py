"""One vendor's cards are all taken, and two other vendors' are free."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.6",
    fleet="three-vendors",
    en="A pod for one vendor's cards waits, however many cards of another vendor are free",
    zh="申请某家厂商的卡，别家空闲的卡再多也没用，Pod 只能等",
    zh_why="""
    扩展资源之间没有换算关系：nvidia.com/gpu 用完了，
    amd.com/gpu 和 huawei.com/Ascend910 空着 16 张也帮不上。想让任务「哪家有空用哪家」，
    要在上面再加一层抽象，比如 Kueue 的 ResourceFlavor，或者 DRA 按能力选设备；
    镜像也得能在几种卡上跑。
    """,
    tags=("vendors", "scheduling"),
)
def another_vendors_free_cards_do_not_help(lab: Lab) -> None:
    """Extended resources are names with numbers, and no name stands for another.

    All of NVIDIA's are taken: the next pod waits beside sixteen free cards of two other vendors.
    That those are free is seen by pods that get all of them, and leave again. What could use any of
    them needs a layer above, such as flavors of Kueue or claims by ability.
    """
    holder = lab.submit(pod("holder", limits={"nvidia.com/gpu": 8}))
    lab.expect(holder).running().holds_devices(8)
    waiting = lab.submit(pod("waiting", limits={"nvidia.com/gpu": 1}))
    lab.expect(waiting).stays_pending(because="Insufficient nvidia.com/gpu")
    for vendor, resource in (("amd", "amd.com/gpu"), ("ascend", "huawei.com/Ascend910")):
        proof = lab.submit(pod(f"{vendor}-proof", limits={resource: 8}))
        lab.expect(proof).running().on(lab.node(f"{vendor}-0").name).holds_devices(8)
        lab.delete(proof)
    lab.expect(waiting).stays_pending(because="Insufficient nvidia.com/gpu")
    lab.delete(holder)
    lab.expect(waiting).running().on(lab.node("nvidia-0").name)
