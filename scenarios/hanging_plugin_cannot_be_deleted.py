"""A device plugin that hangs in Allocate, and whose pod somebody deletes to get rid of it."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    en="Deleting the pod of a plugin that hangs does not restart it: its kubelet is waiting for it",
    zh="plugin 卡在 Allocate 里，删它的 Pod 也没用：kubelet 正等着它",
    zh_why="""
    kubelet 只有一个主循环，既准入 Pod，也处理删除。Allocate 不返回，主循环就停在那里：
    plugin 的 Pod 一直 Terminating，节点却照样 Ready。
    能解开的只有让 Allocate 返回：plugin 自己超时、在节点上杀掉它的进程，或者重启 kubelet。
    """,
    tags=("allocate", "restart"),
)
def hanging_plugin_cannot_be_deleted(lab: Lab) -> None:
    """One loop of the kubelet admits pods and ends them, and it waits for Allocate without an end.

    So the plugin's pod stays Terminating, and nothing else of the node begins or ends, while the
    node is Ready. What helps is an answer: a timeout in the plugin, a kill on the node, or a
    restart of the kubelet. Source: kubernetes/kubernetes#117435.
    """
    node = lab.node()
    rule = node.fault("Allocate", nth=1, hang=True)
    stuck = lab.submit(pod("stuck", limits={lab.resource: 1}))
    node.wait_for_open("Allocate")
    deleted = node.delete_plugin()
    lab.expect(stuck).stays_unstarted(lasting=5)
    node.wait_for_open("Allocate")
    lab.expect(node).ready()
    node.lift(rule)
    lab.expect(stuck).running().holds_devices(1)
    node.wait_for_plugin(deleted)
