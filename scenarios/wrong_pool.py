"""A pod that asks for one vendor's device, and for a node of another's."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.6",
    fleet="two-pools",
    tags=("scheduling", "vendors"),
    en="A pod for one vendor's devices that is sent to another vendor's pool waits for ever",
    zh="要的是这家的卡，却指定了那家的节点池，Pod 只会一直等",
    zh_why="""
    资源和节点选择要同时满足：指定的池里没有这种资源，有这种资源的节点又不在指定的池里。
    事件里两个原因都会出现：Insufficient 说的是池里的节点，didn't match 说的是池外的节点。
    多厂商集群里，复制别人的 YAML 改了资源名、忘了改 nodeSelector，就会这样。
    """,
)
def wrong_pool(lab: Lab) -> None:
    """What a pod asks for and where it wants to be have to hold for the same node.

    The node that was chosen lacks the devices, and the one that has them was not chosen: the
    message tells one reason of each. Nobody sees that both cannot be had together.
    """
    lost = lab.submit(
        pod(
            "lost",
            limits={"nvidia.com/gpu": 1},
            tolerates=["nvidia.com/gpu"],
            nodeSelector={"gpu-lab/pool": "ascend"},
        )
    )
    lab.expect(lost).stays_pending(because="1 Insufficient nvidia.com/gpu")
    lab.expect(lost).event("FailedScheduling", because="didn't match Pod's node affinity/selector")
