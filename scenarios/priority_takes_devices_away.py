"""A pod of a higher priority that wants devices which others have."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.10.5",
    tags=("scheduling",),
    en="A pod of a higher priority takes the devices of one with a lower priority",
    zh="高优先级的 Pod 会抢走低优先级 Pod 的设备",
    zh_why="""
    设备不够时，scheduler 会看能不能请走几个优先级更低的 Pod；能腾出地方，就删掉它们，这叫抢占。
    被抢的是裸 Pod，就真的没了；由 Deployment 或 Job 管理的，会重新排队等设备。
    优先级相同不会抢占，只会等。训练任务怕被打断，就把 preemptionPolicy、优先级和检查点一起想清楚。
    """,
)
def priority_takes_devices_away(lab: Lab) -> None:
    """Where devices are short, the scheduler looks for pods of lower priority that could give way.

    It deletes them, with their grace, and tells them so in an event and in a condition
    (pkg/scheduler/framework/preemption). A pod of the same priority waits.
    """
    holder = lab.submit(pod("holder", limits={lab.resource: 2}))
    lab.expect(holder).running()
    equal = lab.submit(pod("equal", limits={lab.resource: 1}))
    lab.expect(equal).stays_pending(because="No preemption victims found", lasting=0)
    name = lab.priority_class("urgent", 1000)
    urgent = lab.submit(pod("urgent", limits={lab.resource: 2}, priorityClassName=name))
    lab.expect(holder).event("Preempted", because=f"on node {lab.node().name}").gone()
    lab.expect(urgent).holds_devices(2)
