"""A card by percent of its cores and units of its memory."""

from lab.harness import Lab, pod, scenario

CORES, MEMORY = "tke.cloud.tencent.com/qgpu-core", "tke.cloud.tencent.com/qgpu-memory"
SHOW = "echo cores $GPULAB_CORES_PERCENT memory $GPULAB_MEMORY_MIB; exec sleep 86400"


@scenario(
    section="4.9",
    fleet="shared-cards",
    en="A card offered by percent is two resources, and either can be the one that runs out",
    zh="按百分比切分的卡是两种资源：算力和显存，哪个先用完都不行",
    zh_why="""
    qGPU 这类方案把一张卡上报成 100 份算力，外加若干 GiB 显存，Pod 两样都要写。
    对 Kubernetes 来说这是两种毫无关系的扩展资源：60% 被占走以后，再要 60% 就会 Pending，
    尽管显存还剩很多；显存快用完了，剩下的算力也分不出去。
    真正的隔离由厂商的驱动来做，device plugin 只负责记账。
    """,
    tags=("sharing", "scheduling"),
)
def percent_of_a_card(lab: Lab) -> None:
    """100 devices of cores and one for each GiB of memory: to Kubernetes, two unrelated resources.

    Each is counted for itself. What keeps a container within its share is the vendor's driver; the
    device plugin keeps the books. The names are those of Tencent's qGPU.
    """
    node = lab.node("percent-0")
    lab.expect(node).allocatable(100, CORES).allocatable(44, MEMORY)
    first = lab.submit(pod("first", limits={CORES: 60, MEMORY: 8}, script=SHOW))
    lab.expect(first).running().holds_devices(1, CORES).logs("cores 60 memory 8192")
    second = lab.submit(pod("second", limits={CORES: 60, MEMORY: 8}))
    lab.expect(second).stays_pending(because=f"Insufficient {CORES}")
    third = lab.submit(pod("third", limits={CORES: 20, MEMORY: 30}, script=SHOW))
    lab.expect(third).running().logs("cores 20 memory 30720")
    lab.expect(third).sees_the_devices_of(lab.expect(first), CORES)
    fourth = lab.submit(pod("fourth", limits={CORES: 20, MEMORY: 8}))
    lab.expect(fourth).stays_pending(because=f"Insufficient {MEMORY}")
    lab.delete(third)
    lab.expect(fourth).running()
