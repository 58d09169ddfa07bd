"""What a container gets beside its device files, and what it has to bring along."""

from lab.harness import Lab, pod, scenario

SHOW = """
echo the node lends: $(cut -d' ' -f2 /proc/mounts | grep -E '^/(bin|lib|opt|usr)')
[ -e /sys/fs/cgroup/cgroup.controllers ] && v2=1 || v2=0
[ -e /sys/fs/cgroup/devices/devices.list ] && v1=1 || v1=0
echo cgroup v2, or a list of devices: $((v2 + v1))
exec sleep 86400
"""


@scenario(
    section="4.5.3",
    fleet="h100-and-l4",
    en="The driver's side is mounted from the node; CUDA's runtime has to be in the image",
    zh="驱动这一侧的东西从节点挂载进来，CUDA 运行时要由镜像自带",
    zh_why="""
    Toolkit 挂载的是跟着驱动走的东西，比如 nvidia-smi（实验环境里只有它），
    放程序和库的目录里，多出来的就这一样；libcudart 属于 CUDA 工具包，不在挂载之列，
    镜像里没有就是没有。另外，
    cgroup v2 里没有 devices.list 这类文件：哪些设备能打开，由运行时装进内核的一段 eBPF 程序决定，
    在容器里看不到。
    """,
    tags=("containers", "errata"),
    erratum=4,
)
def the_driver_is_mounted_and_cuda_is_not(lab: Lab) -> None:
    """A node lends what must match its kernel module; what matches the program is the image's own.

    Of the folders of programs and libraries, one thing is the node's: nvidia-smi, with which the
    lab stands for the driver's side. libcudart is not among what is mounted, so an image that needs
    it brings it along. And with cgroup v2 no file lists
    the devices that may be opened: a program in the kernel (BPF_PROG_TYPE_CGROUP_DEVICE) decides.
    """
    one = lab.submit(
        pod("one", limits={lab.resource: 1}, node=lab.node("h100-0").name, script=SHOW)
    )
    lab.expect(one).running().logs("the node lends: /usr/bin/nvidia-smi\n").logs(
        "cgroup v2, or a list of devices: 1\n"
    )
