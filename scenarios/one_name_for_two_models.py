"""Two models of one vendor, which are one resource."""

from lab.harness import Lab, pod, scenario

PRODUCT = "nvidia.com/gpu.product"
H100, L4 = "NVIDIA-H100-80GB-HBM3", "NVIDIA-L4"


@scenario(
    section="4.7",
    fleet="h100-and-l4",
    en="H100 and L4 are both nvidia.com/gpu: only a label of the node tells them apart",
    zh="H100 和 L4 都叫 nvidia.com/gpu，要靠节点标签才能区分",
    zh_why="""
    资源名里没有型号：只写 nvidia.com/gpu: 1，落到 H100 还是 L4 全看 scheduler。
    GFD 会给节点打上 nvidia.com/gpu.product 之类的标签，用 nodeSelector 或节点亲和性去匹配它，
    才能指定型号。指定以后就只在这些节点里找：L4 的两张用完了，要 L4 的 Pod 就 Pending，
    哪怕 H100 还空着。
    """,
    tags=("vendors", "scheduling"),
)
def one_name_for_two_models(lab: Lab) -> None:
    """The name of a resource has no model: which card a pod gets is the scheduler's choice.

    Feature discovery labels nodes with the product, and a selector asks for it. Whoever does so
    waits for that model, though others are free. Source: NVIDIA/k8s-device-plugin,
    docs/gpu-feature-discovery/README.md.
    """
    h100, l4 = lab.node("h100-0"), lab.node("l4-0")
    h100.label(PRODUCT, H100)
    l4.label(PRODUCT, L4)
    large = lab.submit(pod("large", limits={lab.resource: 1}, nodeSelector={PRODUCT: H100}))
    small = lab.submit(pod("small", limits={lab.resource: 2}, nodeSelector={PRODUCT: L4}))
    lab.expect(large).running().on(h100.name)
    lab.expect(small).running().on(l4.name).holds_devices(2)
    late = lab.submit(pod("late", limits={lab.resource: 1}, nodeSelector={PRODUCT: L4}))
    lab.expect(late).stays_pending(because=f"Insufficient {lab.resource}")
    anywhere = lab.submit(pod("anywhere", limits={lab.resource: 1}))
    lab.expect(anywhere).running().on(h100.name)
