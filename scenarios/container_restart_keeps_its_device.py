"""A container that ends and is started again."""

from lab.harness import Lab, pod, scenario

BRIEF = "echo $GPULAB_VISIBLE_DEVICES; exec sleep 3"


@scenario(
    section="4.5.2",
    en="A container that is started again gets the device that it had",
    zh="容器重启以后，拿到的还是原来那个设备",
    zh_why="""
    设备是在 Pod 通过节点准入时分配给容器的，一直属于它，直到 Pod 结束；
    容器退出再启动，不会重新分配。
    所以 Allocate 只发一次；plugin 要在每次启动前做点什么，就得声明 PreStartContainer。
    """,
    tags=("allocate", "restart"),
)
def container_restart_keeps_its_device(lab: Lab) -> None:
    """Devices are given to a container when its pod is admitted, and are its own until that ends.

    Allocate is called once, however often the container is started: a plugin that has something to
    do before each start asks for PreStartContainer. Source: pkg/kubelet/cm/devicemanager.
    """
    node = lab.node()
    brief = lab.submit(pod("brief", limits={lab.resource: 1}, script=BRIEF))
    lab.expect(brief).running()
    (device,) = lab.expect(brief).devices()
    asked = len(node.calls("Allocate"))
    lab.expect(brief).restarted(2)
    lab.expect(brief).logs(device)
    lab.expect(node).asked("Allocate", asked)
