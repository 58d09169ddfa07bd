"""A plugin whose socket somebody has removed."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.10.7",
    tags=("registration",),
    en="A plugin whose socket was removed listens anew and registers again; pods do not notice",
    zh="socket 被删掉，plugin 会重新监听、重新注册，正在运行的 Pod 毫无感觉",
    zh_why="""
    kubelet 重启时会清空 device-plugins 目录里的 socket，所以 plugin 都盯着自己的那个文件：
    文件没了，就换一个名字重新监听，再注册一次。有人手工“清理”这个目录，效果也一样。
    只重新注册、不重新监听是不够的，kubelet 会去拨一个不存在的文件。
    正在运行的 Pod 用的是早就分配好的设备，与 socket 无关。
    """,
)
def removed_socket(lab: Lab) -> None:
    """A kubelet that restarts removes all sockets of its folder, so plugins watch their own.

    Where it is missing, be it by somebody who tidies up, the plugin listens on another one and
    registers that: to register alone would send the kubelet to a file that is not there. Devices
    that pods hold are theirs meanwhile, and new pods get what is left.
    """
    node = lab.node()
    holder = lab.submit(pod("holder", limits={lab.resource: 1}))
    lab.expect(holder).running()
    registered = len(node.calls("Register"))
    with lab.expect(holder).undisturbed():
        node.remove_socket()
        lab.expect(node).asked("Register", registered + 1).allocatable(2)
    later = lab.submit(pod("later", limits={lab.resource: 1}))
    lab.expect(later).holds_devices(1).sees_only_its_devices()
