"""A kubelet that has lost its accounts, and a pod that comes before the plugin is back."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    en="After its kubelet has lost the checkpoint a pod can run without the device it asked for",
    zh="kubelet 的 checkpoint 丢了：Pod 跑起来了，申请的设备却没拿到",
    zh_why="""
    kubelet 怎么知道一个资源归 plugin 管？看 checkpoint，或者看有没有 plugin 注册过。
    checkpoint 没了，plugin 又还没注册，这个资源对它来说就是陌生的：既不拒绝，也不分配，直接放行。
    节点 status 里的旧数字还在，所以 scheduler 照样往这里调度。
    Running 不等于拿到了卡，要到容器里看一眼才算数。
    """,
    tags=("restart", "allocate"),
    needs=("stop_kubelet", "lose_checkpoint", "start_kubelet"),
)
def lost_checkpoint_gives_no_device(lab: Lab) -> None:
    """A kubelet knows a resource as a plugin's by its checkpoint, or since the plugin registered.

    Without both it lets a pod in and asks nobody, while the node's status has the numbers of
    before, so that the scheduler sends pods. Running proves nothing: what counts is what the
    container has. Source: kubernetes/kubernetes#116125, #109595.
    """
    node = lab.node()
    rule = node.fault("Register", hang=True)
    node.lose_checkpoint()
    without = lab.submit(pod("without", limits={lab.resource: 1}))
    lab.expect(without).running().holds_devices(0)
    with lab.expect(without).undisturbed():
        node.lift(rule)
        lab.expect(node).allocatable(2).capacity(2)
