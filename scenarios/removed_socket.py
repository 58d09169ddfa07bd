"""A plugin whose socket somebody has removed."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.10.7",
    tags=("registration",),
    en="A plugin whose socket was removed listens anew and registers again; pods do not notice",
    zh="socket 被删掉，plugin 会重新监听、重新注册，正在运行的 Pod 毫无感觉",
    zh_why="""
    device-plugins 目录里的 socket 是 kubelet 连 plugin 的入口，
    被人“清理”掉以后，kubelet 就再也连不上它了。
    好的 plugin 会盯着这个目录：文件没了就换一个新的 socket，再注册一次；
    只重新注册、不重新监听是不够的，kubelet 会拨一个不存在的文件。
    正在运行的 Pod 用的是已经分配好的设备，与 socket 无关。
    """,
)
def removed_socket(lab: Lab) -> None:
    """A plugin watches its folder: without its socket it is deaf, and nobody would tell it.

    It opens another socket, of another name, and registers that. Devices that pods hold are theirs
    meanwhile, and new pods get what is left.
    """
    node = lab.node()
    holder = lab.submit(pod("holder", limits={lab.resource: 1}))
    lab.expect(holder).running()
    registered = len(node.calls("Register"))
    node.remove_socket()
    lab.expect(node).asked("Register", registered + 1).allocatable(2)
    later = lab.submit(pod("later", limits={lab.resource: 1}))
    lab.expect(later).holds_devices(1).sees_only_its_devices()
    lab.expect(holder).stays_as_it_is(lasting=0)
