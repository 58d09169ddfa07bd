"""A pod that wants more than one share of a card."""

from lab.harness import Lab, pod, scenario

RESOURCE = "nvidia.com/gpu.shared"
REFUSAL = (
    f'invalid allocation request for "{RESOURCE}": invalid request: '
    "maximum request size for shared resources is 1; found 2"
)


@scenario(
    section="4.9",
    fleet="shared-cards",
    en="With failRequestsGreaterThanOne, a pod that asks for two shares fails on the node",
    zh="开了 failRequestsGreaterThanOne，申请两份共享卡的 Pod 会在节点上失败",
    zh_why="""
    申请 2 份并不会多拿一张卡，也不会多分一倍时间，所以 NVIDIA plugin 可以设成直接拒绝。
    但 API server 和 scheduler 都不知道这条规则：Pod 照常通过校验、被调度，
    到节点上 Allocate 才报错，kubelet 把它记为 UnexpectedAdmissionError。Pod 变成 Failed，不会重试；
    拒绝它不占用任何一份。
    """,
    tags=("sharing", "requests"),
)
def two_shares_are_not_two_cards(lab: Lab) -> None:
    """Two shares are neither two cards nor twice the time: the plugin can be told to refuse that.

    Nobody else knows the rule. The API server accepts the pod, the scheduler finds a node with four
    shares, and Allocate fails there, for good. No share is lost by it. Source:
    NVIDIA/k8s-device-plugin, internal/rm/rm.go.
    """
    two = lab.submit(pod("two", limits={RESOURCE: 2}))
    lab.expect(two).rejected(because=REFUSAL)
    lab.expect(two).event("UnexpectedAdmissionError", because="Allocate failed due to")
    singles = [lab.submit(pod(f"one-{number}", limits={RESOURCE: 1})) for number in range(4)]
    for each in singles:
        lab.expect(each).running().holds_devices(1)
