"""One device is broken and in use, one is healthy and free: and nobody gets it."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    en="A device that breaks in use keeps the scheduler from giving out a free one",
    zh="正在使用的设备坏了，空闲的好设备反而调度不出去",
    zh_why="""
    scheduler 只看两个数字：allocatable 减去 Pod 的 requests。
    它不知道坏的正是被占用的那个：2 个设备，1 个被占用后坏掉，allocatable 变成 1，已经申请的也是 1，
    算下来一个都不剩，虽然另一个好设备明明空着。占着坏设备的 Pod 走了，新 Pod 才调度得上去。
    """,
    tags=("health", "scheduling"),
)
def a_broken_device_hides_a_free_one(lab: Lab) -> None:
    """The scheduler subtracts what is requested from what is allocatable, and knows no device.

    Of two devices one is in use when it breaks: allocatable 1, requested 1, nothing is left. The
    pod that holds the broken one has to go first, and nobody tells it to. Source:
    kubernetes/kubernetes#92592.
    """
    node = lab.node()
    holder = lab.submit(pod("holder", limits={lab.resource: 1}))
    lab.expect(holder).running()
    node.break_device(*lab.expect(holder).devices())
    lab.expect(node).allocatable(1)
    lab.wait_for_scheduler(node)
    waiting = lab.submit(pod("waiting", limits={lab.resource: 1}))
    lab.expect(waiting).stays_pending(because=f"Insufficient {lab.resource}")
    lab.delete(holder)
    lab.expect(waiting).running().holds_devices(1)
