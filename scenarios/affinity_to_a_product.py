"""A pod that wants a certain model of card, by the label that tells it."""

from lab.harness import Lab, pod, scenario

PRODUCT, WANTED = "nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"
TERM = {"matchExpressions": [{"key": PRODUCT, "operator": "In", "values": [WANTED]}]}
ON_IT = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]}}


@scenario(
    section="4.7",
    tags=("scheduling",),
    en="Affinity to a product's label decides where a pod starts, and nothing afterwards",
    zh="按型号标签做的亲和性，只决定 Pod 在哪里启动，之后就不管了",
    zh_why="""
    型号写在 GFD 打的标签里，没有标签的节点一律不匹配：卡是空的也没用。
    所以 GFD 没跑起来，指定型号的 Pod 会全部 Pending，报的是 affinity，不是资源。
    标签补上，Pod 立刻就能调度；以后标签变了或者没了，已经运行的 Pod 也不会被赶走，
    名字里的 IgnoredDuringExecution 就是这个意思。
    """,
)
def affinity_to_a_product(lab: Lab) -> None:
    """The model of a card is in a label that feature discovery sets; without it no node matches.

    The pod runs once the label is there. That the label goes later does not concern it: affinity
    is looked at when a pod is scheduled, as its name says.
    """
    node = lab.node()
    user = lab.submit(pod("h100-only", limits={lab.resource: 1}, affinity={"nodeAffinity": ON_IT}))
    lab.expect(user).stays_pending(because="didn't match Pod's node affinity/selector")
    node.label(PRODUCT, WANTED)
    lab.expect(user).running().on(node.name)
    with lab.expect(user).undisturbed(lasting=2):
        node.label(PRODUCT, "NVIDIA-L4")
