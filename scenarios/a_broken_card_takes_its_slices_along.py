"""A MIG slice breaks, and then the card that it is of."""

from lab.harness import Lab, pod, scenario

SLICES = {"nvidia.com/mig-1g.10gb": 2, "nvidia.com/mig-2g.20gb": 1, "nvidia.com/mig-3g.40gb": 1}


@scenario(
    section="4.9",
    fleet="mig",
    en="A MIG slice breaks alone; when its card breaks, slices of all profiles are gone",
    zh="MIG 切片可以单独坏；整张卡坏了，上面各种规格的切片一起不可用",
    zh_why="""
    切片之间有硬件隔离，一个切片出错只影响自己：它那种规格少一个，其余照常分配。
    但它们毕竟在同一张物理卡上：卡掉了（XID 79），几种资源名的数量会同时归零，
    看起来像几个资源一起出事，其实根源只有一个；节点上另一张完整的卡不受影响。
    卡修好以后，单独坏掉的那个切片仍然是坏的。
    """,
    tags=("mig", "health"),
)
def a_broken_card_takes_its_slices_along(lab: Lab) -> None:
    """Slices are kept apart in hardware, and are on one bus all the same.

    What befalls a slice leaves the others alone. A card that has fallen off the bus takes resources
    of several names to 0 together, which look like several failures; the whole card beside it is
    not touched. When the card is back, the slice that broke by itself is still broken.
    """
    node, profile = lab.node("mixed-0"), "nvidia.com/mig-1g.10gb"
    holder = lab.submit(pod("holder", limits={profile: 1}))
    lab.expect(holder).running()
    node.break_device(*lab.expect(holder).devices())
    lab.expect(node).allocatable(1, profile).capacity(2, profile)
    lab.expect(node).keeps(1, "nvidia.com/mig-2g.20gb", lasting=1)
    node.break_device("mixed/0", xid=79)
    for name, count in SLICES.items():
        lab.expect(node).allocatable(0, name).capacity(count, name)
    lab.expect(node).keeps(1, "nvidia.com/gpu", lasting=1)
    lab.expect(holder).running()
    node.mend("mixed/0")
    lab.expect(node).allocatable(1, "nvidia.com/mig-2g.20gb").allocatable(1, profile)
    lab.expect(node).keeps(1, profile, lasting=1)
