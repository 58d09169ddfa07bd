"""A device that cannot be prepared for the container that is to have it."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    fleet="sticky-and-prepared",
    en="A container whose PreStartContainer fails waits and is tried again; its pod does not fail",
    zh="PreStartContainer 失败，容器只是等着重试，Pod 不会失败",
    zh_why="""
    Allocate 属于准入，失败就是终态；PreStartContainer 属于启动容器，失败了 kubelet 会一直重试。
    这段时间 Pod 是 Pending，容器停在 CreateContainerConfigError，里面有 plugin 的原话；
    设备已经分配给它，别人拿不走。故障排除之后，它自己就跑起来了。
    这个调用每次启动容器都有，重启也算，适合用来复位设备。
    """,
    tags=("allocate",),
)
def pre_start_fails(lab: Lab) -> None:
    """Allocate is a part of admission, whose verdict is final; this call is a part of the start.

    The start is tried again and again, with the plugin's words in the container's state, and the
    pod keeps its device meanwhile. The call comes before every start, so it is the place to reset a
    device. It is made only if the plugin's options ask for it. Source: Kubernetes,
    pkg/kubelet/cm/devicemanager/manager.go, PreStartContainer.
    """
    node = lab.node("prepared-0")
    asked = len(node.calls("Allocate"))
    rule = node.fault("PreStartContainer", fails="reset failed")
    waits = lab.submit(pod("waits", limits={node.resource: 1}))
    lab.expect(waits).waiting(
        because="CreateContainerConfigError: device plugin PreStartContainer rpc failed with err: "
        "rpc error: code = Unknown desc = reset failed"
    )
    lab.expect(waits).event("Failed", because="reset failed")
    node.lift(rule)
    lab.expect(waits).running().holds_devices(1)
    lab.expect(node).asked("Allocate", asked + 1)
