"""A container that asks for slices of two profiles."""

from lab.harness import Lab, pod, scenario

ASKED = {"nvidia.com/mig-1g.10gb": 1, "nvidia.com/mig-2g.20gb": 1}
COUNT = "echo visible: $(echo $NVIDIA_VISIBLE_DEVICES | tr , '\\n' | wc -l); exec sleep 86400"


@scenario(
    section="4.9",
    fleet="mig",
    en="A container with two MIG profiles holds both slices, and its variable names only one",
    zh="一个容器申请两种 MIG 规格：两个切片都被占用，环境变量里却只有一个",
    zh_why="""
    kubelet 按资源逐个发 Allocate：两种规格就是两次应答，每次都设置 NVIDIA_VISIBLE_DEVICES。
    同名变量 kubelet 只留一个，哪个留下不一定，另一个切片就白白占着、程序却看不见。
    要用两个切片，就申请两个同一规格的，或者拆成两个容器。
    """,
    tags=("mig", "allocate"),
)
def two_profiles_in_one_container(lab: Lab) -> None:
    """The kubelet asks for each resource apart, and each answer sets NVIDIA_VISIBLE_DEVICES.

    Of two answers with one variable it keeps either, and only its log says so. Both slices are
    taken; the program finds one. Sources: Kubernetes' pkg/kubelet/cm/devicemanager/pod_devices.go,
    NVIDIA/k8s-device-plugin#257.
    """
    both = lab.submit(pod("both", limits=ASKED, script=COUNT))
    lab.expect(both).running().logs("visible: 1\n")
    for profile in ASKED:
        lab.expect(both).holds_devices(1, profile)
    late = lab.submit(pod("late", limits={"nvidia.com/mig-2g.20gb": 1}))
    lab.expect(late).stays_pending(because="Insufficient nvidia.com/mig-2g.20gb")
