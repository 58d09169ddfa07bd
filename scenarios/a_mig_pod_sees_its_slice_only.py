"""Two pods on one card, each with a slice of it."""

from lab.harness import Lab, pod, scenario

SMI = "nvidia-smi -L; echo MIG devices: $(nvidia-smi -L | grep -c MIG-); exec sleep 86400"


@scenario(
    section="4.9",
    fleet="mig",
    en="Two pods with MIG slices of one card each see their own slice and no other",
    zh="同一张卡上的两个 MIG Pod，各自只看得到自己的切片",
    zh_why="""
    MIG 是硬件切分：每个切片有自己的算力、显存和 UUID（MIG-…），plugin 把它当成一个独立设备来分配。
    所以两个 Pod 虽然在同一张物理卡上，nvidia-smi 里却各只有一个 MIG 设备，
    看不到对方，也看不到卡上剩下的切片；这和时间片共享整张卡完全不同。
    """,
    tags=("mig", "allocate"),
)
def a_mig_pod_sees_its_slice_only(lab: Lab) -> None:
    """A slice is a device with a UUID of its own, and NVIDIA_VISIBLE_DEVICES names no other.

    Both are of card 0, the only one that is cut: unlike with time-slicing, neither sees the card as
    a whole, or what is left of it.
    """
    profile = "nvidia.com/mig-1g.10gb"
    first = lab.submit(pod("first", limits={profile: 1}, script=SMI))
    second = lab.submit(pod("second", limits={profile: 1}, script=SMI))
    for each in (first, second):
        lab.expect(each).running().holds_devices(1).sees_only_its_devices()
        lab.expect(each).logs("GPU 0: NVIDIA A100").logs("MIG devices: 1")
        for slice_ in lab.expect(each).devices():
            lab.expect(each).logs(f"UUID: {slice_}")
