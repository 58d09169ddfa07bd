"""A plugin that cannot reach the kubelet's folder."""

from lab.harness import Lab, scenario

RESOURCE = "unmounted.example.com/device"


@scenario(
    section="4.10.3",
    tags=("registration", "errata"),
    erratum=1,
    en="A plugin without the kubelet's folder of sockets can never register",
    zh="没有挂载 device-plugins 目录的 plugin，永远注册不上",
    zh_why="""
    注册靠的是 /var/lib/kubelet/device-plugins 里的 kubelet.sock，它在节点上，不在容器里。
    本章 4.10.3 的 DaemonSet 没有用 hostPath 挂载这个目录，容器里找不到它：
    Pod 创建得出来，节点上却一个设备也不会有，连资源名都没有。
    （那里写的镜像名也不存在，上游的示例镜像叫 sample-device-plugin。）
    """,
)
def plugin_without_the_folder(lab: Lab) -> None:
    """Registration is a call to kubelet.sock, a file of the node and not of the container.

    The chapter's DaemonSet mounts no hostPath of /var/lib/kubelet/device-plugins, so its plugin
    finds no kubelet. The lab's plugin says so and ends; the node does not even know the name.
    """
    plugin = lab.bring_plugin(lab.node(), "shut-out", RESOURCE, mounted=False)
    lab.expect(plugin).logs("the folder of --device-plugin-dir is not there")
    lab.expect(lab.node()).has_no(RESOURCE)
