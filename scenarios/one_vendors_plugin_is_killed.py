"""One of three vendors' plugins is killed, on nodes where pods hold devices."""

from lab.harness import Lab, pod, scenario

RESOURCES = {"nvidia": "nvidia.com/gpu", "amd": "amd.com/gpu", "ascend": "huawei.com/Ascend910"}


@scenario(
    section="4.6",
    fleet="three-vendors",
    en="A plugin that is killed comes back by itself, and no pod of any vendor notices",
    zh="plugin 被杀会自己回来，哪家厂商的 Pod 都没有感觉",
    zh_why="""
    进程被杀（比如内存超限）时什么都来不及收拾：socket 文件还留在目录里，ListAndWatch 直接断开。
    kubelet 在原来的 Pod 里把容器重新拉起来，plugin 换一个 socket 重新注册，设备 ID 和以前一样，
    所以谁占着哪张卡还对得上，正在跑的 Pod 不受影响。别家厂商的 plugin 根本没有重新注册。
    """,
    tags=("vendors", "restart"),
)
def one_vendors_plugin_is_killed(lab: Lab) -> None:
    """A killed process tidies nothing up: its socket stays, and its stream breaks off.

    The kubelet starts the container again, and the plugin registers with the same device IDs, so
    that the kubelet's account of who holds what still fits. Each resource has an endpoint of its
    own: the other vendors' plugins do not register anew. Source: Kubernetes,
    pkg/kubelet/cm/devicemanager/manager.go, PluginDisconnected.
    """
    holders = {
        vendor: lab.submit(pod(vendor, limits={resource: 2}))
        for vendor, resource in RESOURCES.items()
    }
    for each in holders.values():
        lab.expect(each).running()
    others = [lab.node("amd-0"), lab.node("ascend-0")]
    registered = [len(each.calls("Register")) for each in others]
    killed = lab.node("nvidia-0")
    with (
        lab.expect(holders["nvidia"]).undisturbed(),
        lab.expect(holders["amd"]).undisturbed(),
        lab.expect(holders["ascend"]).undisturbed(),
    ):
        killed.kill_plugin()
        lab.expect(killed).allocatable(8).capacity(8)
    for node, times in zip(others, registered, strict=True):
        lab.expect(node).keeps(8, lasting=1).asked("Register", times)
    late = lab.submit(pod("late", limits={RESOURCES["nvidia"]: 6}))
    lab.expect(late).running().holds_devices(6).sees_only_its_devices()
