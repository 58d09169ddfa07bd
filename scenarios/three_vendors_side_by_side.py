"""Three vendors' cards in one cluster."""

from lab.harness import Lab, pod, scenario

SHOW = """
echo NVIDIA=$NVIDIA_VISIBLE_DEVICES. ASCEND=$ASCEND_VISIBLE_DEVICES.
for file in /dev/kfd /dev/dri/card* /dev/dri/renderD* /dev/davinci*; do
    test -c $file && echo has $file
done
exec sleep 86400
"""


@scenario(
    section="4.6",
    fleet="three-vendors",
    en="With three vendors' plugins, each pod gets its devices in the way of its own vendor",
    zh="三家厂商的 plugin 并存，每个 Pod 按自家厂商的方式拿到设备",
    zh_why="""
    Kubernetes 只认资源名；设备怎么交给容器，全由各家 plugin 的 Allocate 应答决定。
    NVIDIA 给环境变量 NVIDIA_VISIBLE_DEVICES，里面是 UUID；AMD 不设变量，
    直接给 /dev/kfd 和 /dev/dri 下的设备文件；昇腾给 ASCEND_VISIBLE_DEVICES，里面是编号，
    外加 /dev/davinci*。三家互不干扰，镜像和框架却要各配各的。
    """,
    tags=("vendors", "allocate"),
)
def three_vendors_side_by_side(lab: Lab) -> None:
    """The name of the resource chooses the node and the plugin, whose answer is all that differs.

    NVIDIA's names UUIDs in a variable. AMD's sets none, and lists device files. Ascend's names
    numbers in a variable, and lists files. Kubernetes takes all of it as it comes. Sources:
    NVIDIA/k8s-device-plugin, ROCm/k8s-device-plugin, Ascend/mind-cluster.
    """
    asked = {"nvidia": "nvidia.com/gpu", "amd": "amd.com/gpu", "ascend": "huawei.com/Ascend910"}
    pods = {
        vendor: lab.submit(pod(vendor, limits={resource: 1}, script=SHOW))
        for vendor, resource in asked.items()
    }
    for vendor, each in pods.items():
        lab.expect(each).running().on(lab.node(f"{vendor}-0").name).holds_devices(1)
    (uuid,) = lab.expect(pods["nvidia"]).devices()
    lab.expect(pods["nvidia"]).logs(f"NVIDIA={uuid}. ASCEND=.")
    lab.expect(pods["amd"]).logs("NVIDIA=. ASCEND=.").logs("has /dev/kfd").logs("has /dev/dri/card")
    (npu,) = lab.expect(pods["ascend"]).devices()
    number = npu.removeprefix("Ascend910-")
    lab.expect(pods["ascend"]).logs(f"NVIDIA=. ASCEND={number}.").logs(f"has /dev/davinci{number}")
