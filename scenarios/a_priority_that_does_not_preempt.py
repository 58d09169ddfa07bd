"""A pod of a higher priority that is not to take devices away."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.10.5",
    tags=("scheduling",),
    en="A pod of a high priority with preemptionPolicy Never takes devices from nobody, and waits",
    zh="preemptionPolicy 为 Never 的高优先级 Pod 不抢设备，只会等",
    zh_why="""
    优先级有两个作用：排队时靠前，设备不够时抢占。PriorityClass 里把 preemptionPolicy 写成 Never，
    就只剩下前一个：正在跑的低优先级 Pod 一个也不动，Pod 在事件里写明自己不参与抢占，
    等有人让出设备再运行。训练任务怕被打断、又想早点排到，就用这种优先级。
    """,
)
def a_priority_that_does_not_preempt(lab: Lab) -> None:
    """A priority class with preemptionPolicy Never makes no other pod give way.

    The scheduler says so beside what is short, and the pod runs as soon as devices are free
    (pkg/scheduler/framework/plugins/defaultpreemption, PodEligibleToPreemptOthers).
    """
    holder = lab.submit(pod("holder", limits={lab.resource: 2}))
    lab.expect(holder).running()
    name = lab.priority_class("polite", 1000, preempts=False)
    with lab.expect(holder).undisturbed():
        polite = lab.submit(pod("polite", limits={lab.resource: 2}, priorityClassName=name))
        lab.expect(polite).stays_pending(because=f"Insufficient {lab.resource}")
        lab.expect(polite).stays_pending(because="not eligible due to preemptionPolicy=Never")
    lab.delete(holder)
    lab.expect(polite).running().holds_devices(2)
