"""A pod that waits for a device that another pod has."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.10.5",
    tags=("oversubscription", "scheduling"),
    en="A pod waits while others have all devices, and runs when one of them has ended",
    zh="设备都被占着，Pod 就等；有人结束了，它就能运行",
    zh_why="""
    和“申请得比哪个节点都多”不同：这里总数够，只是暂时没有空余。
    报错的前半句一样，都是 Insufficient，区别在后半句：同优先级的 Pod 抢占不了，
    写的是 No preemption victims found。占着设备的 Pod 一结束，
    scheduler 就会重试（试过几次的要先退避 1 到 10 秒），不用重建。
    """,
)
def all_devices_in_use(lab: Lab) -> None:
    """There are enough devices, and none is free: that ends by itself.

    The message begins as that of a pod which asks for too much; what preemption says tells them
    apart: here others could give way, if only they had a lower priority. The end of a pod wakes
    those that wait for what it held.
    """
    holder = lab.submit(pod("holder", limits={lab.resource: 2}))
    lab.expect(holder).running()
    waiting = lab.submit(pod("waiting", limits={lab.resource: 1}))
    lab.expect(waiting).stays_pending(because=f"Insufficient {lab.resource}")
    lab.expect(waiting).stays_pending(because="No preemption victims found", lasting=0)
    lab.delete(holder)
    lab.expect(waiting).holds_devices(1)
