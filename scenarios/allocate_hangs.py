"""A device plugin that does not answer Allocate."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    en="An Allocate that hangs holds up every later pod of the node",
    zh="Allocate 卡住，这个节点上后来的 Pod 全都得等",
    zh_why="""
    kubelet 一个一个地准入 Pod，调 Allocate 时没有超时。
    plugin 不回答，这个 Pod 就停在 Pending，连容器都不会创建；
    排在后面的 Pod 就算不要设备，也一样启动不了。已经在跑的不受影响。
    所以 plugin 里慢的活要放到别处做，或者自己设超时。
    """,
    tags=("allocate",),
)
def allocate_hangs(lab: Lab) -> None:
    """Pods are admitted one after the other, and the kubelet has no timeout for Allocate.

    A pod that has no node event but Scheduled, and no container, may wait for another pod's
    device: even one that asks for none. Source: kubernetes/kubernetes#117435, #129249.
    """
    node = lab.node()
    rule = node.fault("Allocate", nth=1, hang=True)
    stuck = lab.submit(pod("stuck", limits={lab.resource: 1}))
    node.wait_for_open("Allocate")
    plain = lab.submit(pod("plain", node=node.name))
    for each in (stuck, plain):
        lab.expect(each).on(node.name).stays_unstarted()
    node.lift(rule)
    lab.expect(stuck).running().holds_devices(1)
    lab.expect(plain).running()
