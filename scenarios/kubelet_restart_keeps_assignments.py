"""A kubelet that restarts while pods hold devices."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.10.7",
    en="A kubelet that restarts forgets its plugins, and not who holds what",
    zh="kubelet 重启会忘掉 plugin，但不会忘记谁占着哪个设备",
    zh_why="""
    kubelet 启动时会删掉 device-plugins 目录里所有的 socket，再重新建 kubelet.sock。
    plugin 必须盯着这个目录：重新监听，再重新 Register，不然节点上的设备就一直是 0。
    分配记录在 checkpoint 文件里，所以在跑的 Pod 什么都感觉不到，新 Pod 也不会拿到重复的设备。
    """,
    tags=("restart", "registration"),
    needs=("restart_kubelet",),
)
def kubelet_restart_keeps_assignments(lab: Lab) -> None:
    """At its start a kubelet removes every socket of the folder and makes its own anew.

    A plugin has to notice that, listen again and register again: one that does not leaves a node
    with 0 devices although its pod is Running (NVIDIA/k8s-device-plugin#1228). Who holds what is
    in the kubelet's checkpoint, so that pods run on and no device is given out twice.
    """
    node = lab.node()
    early = lab.submit(pod("early", limits={lab.resource: 1}))
    lab.expect(early).running()
    options = "GetDevicePluginOptions"
    asked = len(node.calls(options))
    with lab.expect(early).undisturbed():
        node.restart_kubelet()
        lab.expect(node).asked(options, asked + 1, within=30).allocatable(2).capacity(2)
    late = lab.submit(pod("late", limits={lab.resource: 1}))
    lab.expect(late).running().holds_devices(1).sees_only_its_devices()
