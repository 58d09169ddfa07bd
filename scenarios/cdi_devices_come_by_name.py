"""A plugin that answers with names, which the container runtime looks up."""

from lab.harness import Lab, pod, scenario

SHOW = """
echo variable: $NVIDIA_VISIBLE_DEVICES
echo files: $(ls /dev | grep -c '^nvidia[0-9]')
test -c /dev/nvidiactl && echo control file
exec sleep 86400
"""


@scenario(
    section="4.5.5",
    fleet="h100-and-l4",
    en="With CDI, Allocate answers with names, and the runtime brings what they stand for",
    zh="用 CDI 时，Allocate 只回答设备名，具体内容由容器运行时按名字去查",
    zh_why="""
    CDI 早已不是「未来方向」：kubelet 里已经 GA，新版 GPU Operator 默认就用它。
    plugin 先在节点上写好 CDI 文件，
    Allocate 只回答 k8s.device-plugin.nvidia.com/gpu=<UUID> 这样的名字，
    containerd 按名字找到设备文件和变量，放进容器。NVIDIA_VISIBLE_DEVICES=void 也来自这个文件：
    它告诉旧的运行时钩子不要再插手。
    """,
    tags=("cdi", "containers", "errata"),
    erratum=5,
)
def cdi_devices_come_by_name(lab: Lab) -> None:
    """The answer has no files and no vendor's variable: a file on the node says what a name is.

    The runtime reads it and puts device files and variables into the container, among them the void
    one that keeps NVIDIA's older hook from acting, too. GA in the kubelet since Kubernetes 1.31
    (KEP-4009), and the default of current GPU Operators.
    """
    node = lab.node("l4-0")
    one = lab.submit(pod("one", limits={lab.resource: 1}, node=node.name, script=SHOW))
    lab.expect(one).running().logs("variable: void\n").logs("files: 1\n").logs("control file")
    for uuid in lab.expect(one).devices():
        lab.expect(node).answered("Allocate", f"k8s.device-plugin.nvidia.com/gpu={uuid}")
