"""The same slices of a card, under the two names that NVIDIA's plugin has for them."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.9",
    fleet="mig",
    en="MIG slices are nvidia.com/mig-1g.10gb by the strategy mixed, and nvidia.com/gpu by single",
    zh="MIG 切片在 mixed 策略下叫 nvidia.com/mig-1g.10gb，在 single 策略下仍叫 nvidia.com/gpu",
    zh_why="""
    资源名由 NVIDIA plugin 的 MIG 策略决定，不是切了就会换名字。
    single：全部卡切成一样的，2 张卡各切 7 片，节点上就是 14 个 nvidia.com/gpu，旧的 YAML 不用改，
    但一个「gpu」只剩七分之一张卡。mixed：每种规格各有自己的资源名，没切的整卡仍是 nvidia.com/gpu。
    """,
    tags=("mig", "errata"),
    erratum=8,
)
def mig_names_need_the_mixed_strategy(lab: Lab) -> None:
    """The plugin's MIG strategy decides on the names, and the default is not to look at slices.

    By `single` two cards with seven slices each are 14 nvidia.com/gpu: pods need not be changed,
    and get a seventh of what they got before. By `mixed` each profile is a resource of its own, and
    nvidia.com/gpu are the cards that are whole. Source: NVIDIA/k8s-device-plugin, README.md.
    """
    single, mixed = lab.node("single-0"), lab.node("mixed-0")
    lab.expect(single).allocatable(14, "nvidia.com/gpu").offers_no("nvidia.com/mig-1g.10gb")
    lab.expect(mixed).allocatable(2, "nvidia.com/mig-1g.10gb").allocatable(1, "nvidia.com/gpu")
    lab.expect(mixed).allocatable(1, "nvidia.com/mig-3g.40gb")
    slice_of_single = lab.submit(pod("single", limits={"nvidia.com/gpu": 1}, node=single.name))
    slice_of_mixed = lab.submit(pod("mixed", limits={"nvidia.com/mig-1g.10gb": 1}))
    lab.expect(slice_of_single).running().logs("MIG-")
    lab.expect(slice_of_mixed).running().on(mixed.name).logs("MIG-")
