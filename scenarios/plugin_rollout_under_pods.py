"""A new revision of the plugin's DaemonSet, while pods hold devices."""

from lab.harness import Lab, deployment, pod, scenario


@scenario(
    section="4.2",
    en="A rollout of the plugin goes unnoticed by the pods that hold devices",
    zh="滚动升级 plugin，占着设备的 Pod 毫无感觉",
    zh_why="""
    升级 GPU 的 plugin 不需要排空节点：旧 Pod 走、新 Pod 来，
    中间 allocatable 是 0，新来的 Pod 一般等几秒就好。只有一个空档要小心：节点 status 还没更新时
    被调度过来的 Pod 会被 kubelet 拒绝，Deployment 会补一个新的，裸 Pod 就一直是 Failed。
    要注意的是更新策略：先走后来（maxSurge 为 0）。
    如果新旧两个同时在，1.37 之前的 kubelet 会在旧的断开时把新的也一起停掉。
    """,
    tags=("restart", "registration"),
)
def plugin_rollout_under_pods(lab: Lab) -> None:
    """A node need not be drained for a new version of its device plugin.

    The old pod has to go before the new one comes: with both there, kubelets before 1.37 drop the
    new registration when the old stream ends. A pod that the scheduler binds in between, by a
    status that is not up to date, has failed for good. Sources: kubernetes/kubernetes#121994,
    #120146. That the new one serves is seen by a pod that comes later.
    """
    node = lab.node()
    bare = lab.submit(pod("bare", limits={lab.resource: 1}))
    kept = lab.submit(deployment("kept", limits={lab.resource: 1}))
    lab.expect(bare).running()
    lab.expect_replicas(kept).running(1)
    (replica,) = lab.pods("kept")
    with lab.expect(bare).undisturbed(), lab.expect(replica).undisturbed():
        lab.roll_out_plugins()
        lab.expect(node).asked("GetDevicePluginOptions", 1).allocatable(2).capacity(2)
    lab.expect(bare).sees_only_its_devices()
    lab.delete(bare)
    late = lab.submit(pod("late", limits={lab.resource: 1}))
    lab.expect(late).running().holds_devices(1).sees_only_its_devices()
