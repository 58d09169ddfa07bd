"""A device plugin that is killed while the kubelet waits for its answer."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    en="A plugin that is killed in the middle of an Allocate takes the pod with it, and no device",
    zh="plugin 在 Allocate 中途被杀：Pod 失败，设备不丢",
    zh_why="""
    连接断了，kubelet 得到的是 gRPC 错误；对它来说这和 plugin 拒绝没有区别，Pod 直接 Failed。
    所以 plugin 崩溃时，正好在准入的 Pod 会失败；有控制器管着的会再建一个。
    kubelet 按 Pod 重新对账，那个设备没有丢，等 plugin 回来照样分配。
    """,
    tags=("allocate", "restart"),
)
def plugin_killed_in_allocate(lab: Lab) -> None:
    """The kubelet sees a gRPC error, which is to it what a refusal is: the pod is Failed.

    A crash of a plugin costs the pod that is being admitted just then. The kubelet counts anew what
    its pods hold, so that the device is free when the plugin is back. Source: Kubernetes,
    pkg/kubelet/cm/devicemanager/manager.go, allocateContainerResources.
    """
    node = lab.node()
    node.fault("Allocate", nth=1, hang=True)
    unlucky = lab.submit(pod("unlucky", limits={lab.resource: 2}))
    node.wait_for_open("Allocate")
    node.kill_plugin()
    lab.expect(unlucky).rejected(because="Allocate failed due to rpc error: code = Unavailable")
    lab.expect(lab.submit(pod("lucky", limits={lab.resource: 2}))).running().holds_devices(2)
