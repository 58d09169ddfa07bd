"""A pod that requests fewer devices than its limit."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.2",
    tags=("requests",),
    en="Request and limit of devices are the same number, or the pod is refused",
    zh="设备的 requests 和 limits 必须相等，否则 Pod 会被拒绝",
    zh_why="""
    CPU 可以“先要 1 核、最多用 2 核”，设备不行：一张卡要么归你，要么不归你，没有“可能用得上”的说法。
    两个数不相等，API server 当场拒绝，报错里写着是哪个容器、哪个字段。
    """,
)
def request_unlike_limit(lab: Lab) -> None:
    """A container cannot burst into a second device: it has what it asked for, all the time.

    CPU and memory may have a limit above the request. Extended resources may not
    (pkg/apis/core/validation/validation.go, validateResourceRequirements).
    """
    name = lab.resource
    lab.refuses(
        pod("one-to-two", requests={name: 1}, limits={name: 2}),
        because="spec.containers[0].resources.requests: "
        f'Invalid value: "1": must be equal to {name} limit of 2',
    )
