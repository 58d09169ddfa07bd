"""A device plugin that restarts while pods hold its devices."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    en="A plugin that restarts takes no device from a pod",
    zh="plugin 重启，不会把设备从 Pod 手里拿走",
    zh_why="""
    谁占着哪个设备，账记在 kubelet 那里，plugin 自己并不知道，也不需要知道。
    所以 plugin 每次都要上报全部设备，包括正在用的；漏报在用的，节点上的数字就会变小。
    重启之后，老 Pod 的设备不变，新 Pod 拿到的是另一个。
    """,
    tags=("restart", "allocate"),
)
def plugin_restart_keeps_assignments(lab: Lab) -> None:
    """The kubelet keeps the accounts of who holds what; the plugin lists everything, used or not.

    A plugin that lists what is free alone makes a node shrink with every restart. The pods notice
    nothing, and one that comes later gets another device. Sources:
    k8snetworkplumbingwg/sriov-network-device-plugin#565, kubernetes/kubernetes pull request 63231.
    """
    node = lab.node()
    early = lab.submit(pod("early", limits={lab.resource: 1}))
    lab.expect(early).running()
    with lab.expect(early).undisturbed():
        node.restart_plugin()
        lab.expect(node).allocatable(2).capacity(2)
    late = lab.submit(pod("late", limits={lab.resource: 1}))
    lab.expect(late).running().holds_devices(1).sees_only_its_devices()
