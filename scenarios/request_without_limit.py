"""A pod that requests devices and sets no limit of them."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.2",
    tags=("requests",),
    en="A request for devices without a limit is refused",
    zh="只写 requests、不写 limits 的设备申请会被拒绝",
    zh_why="""
    设备不能超卖，“最少要多少”和“最多用多少”只能是同一个数，所以扩展资源必须写 limits。
    只写 limits 就够了，API server 会替你补上同样的 requests；反过来则不行。
    拒绝发生在 API server，集群里不会留下任何 Pod。
    """,
)
def request_without_limit(lab: Lab) -> None:
    """Devices are not overcommitted: what a pod may use at most is what it is given.

    The API server copies a limit into the request where there is none, and not the other way round
    (kubernetes/kubernetes#57276; pkg/apis/core/validation/validation.go).
    """
    lab.refuses(
        pod("request-alone", requests={lab.resource: 1}),
        because="spec.containers[0].resources.limits: Required value: "
        "Limit must be set for non overcommitable resources",
    )
