"""A plugin that the kubelet refuses."""

from lab.harness import Lab, pod, scenario

RESOURCE = "refused.example.com/device"


@scenario(
    section="4.5.2",
    tags=("registration",),
    en="A refused plugin keeps running, and only its own log says why there are no devices",
    zh="注册被拒绝的 plugin 照样 Running，原因只在它自己的日志里",
    zh_why="""
    注册失败不会让 plugin 的 Pod 退出，kubectl get pods 看上去一切正常，节点上却没有设备。
    申请设备的 Pod 只会一直 Pending，事件里写的是资源不够，不会提到注册。
    kubelet 拒绝的理由在 Register 的返回值里，所以在 plugin 的日志里：这里是 API 版本不对。
    """,
)
def refused_plugin_says_why(lab: Lab) -> None:
    """Register is a call of the plugin's: its error goes to the plugin, and to nobody else.

    The plugin's pod is Running, the node has no devices, and a pod that asks for one is told that
    there are too few. Here the plugin speaks a version of the API that the kubelet does not know
    (pkg/kubelet/cm/devicemanager/plugin/v1beta1/server.go, Register).
    """
    wrong = {"call": "Register", "fails": "by its version"}
    plugin = lab.bring_plugin(lab.node(), "outdated", RESOURCE, faults=[wrong])
    user = lab.submit(pod("user", limits={RESOURCE: 1}))
    lab.expect(plugin).running().logs("is not supported by kubelet. Supported version is")
    lab.expect(user).stays_pending(because=f"Insufficient {RESOURCE}")
    lab.expect(lab.node()).offers_no(RESOURCE)
