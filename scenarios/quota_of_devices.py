"""A namespace that may have so many devices and no more."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.10.5",
    tags=("scheduling", "requests"),
    en="A quota refuses a pod at the API server, however many devices are free",
    zh="配额在 API server 就把 Pod 拒了，集群里还有空卡也没用",
    zh_why="""
    Pending 是“还没有轮到”，配额是“不许再要”：请求直接返回 403，集群里根本不会出现这个 Pod。
    配额的键要写 requests.资源名；写成 limits.资源名也能创建，但从来不会生效。
    由 Deployment 创建的 Pod 被拒时，错误在 ReplicaSet 的事件里，Deployment 只显示副本数不够。
    """,
)
def quota_of_devices(lab: Lab) -> None:
    """A quota counts what the pods of a namespace ask for, and refuses what would be too much.

    Nothing is Pending: there is no pod. Of extended resources, only `requests.<name>` is counted
    (pkg/quota/v1/evaluator/core/pods.go). Pods without devices are none of its business.
    """
    counted = f"requests.{lab.resource}"
    lab.quota("devices", {lab.resource: 1})
    first = lab.submit(pod("first", limits={lab.resource: 1}))
    lab.refuses(
        pod("second", limits={lab.resource: 1}),
        because="exceeded quota: devices, "
        f"requested: {counted}=1, used: {counted}=1, limited: {counted}=1",
    )
    lab.submit(pod("plain"))
    lab.expect(first).on(lab.node().name)
