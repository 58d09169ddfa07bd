"""One of three vendors' plugins is gone."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.6",
    fleet="three-vendors",
    en="When one vendor's plugin stops, the other vendors' devices stay as they are",
    zh="一家厂商的 plugin 停了，别家的设备不受影响",
    zh_why="""
    每家厂商有自己的 DaemonSet，kubelet 按资源名分别记账，谁断了就只有谁的 allocatable 变成 0。
    正在跑的 Pod 不受影响；新来的、要这家卡的 Pod 会 Pending，等 plugin 回来才继续调度；
    别家的 Pod 照常创建、照常运行。
    """,
    tags=("vendors", "restart"),
)
def one_vendors_plugin_stops(lab: Lab) -> None:
    """A kubelet keeps an endpoint for each resource, and a vendor's DaemonSet stops for itself.

    The pod that holds its device runs on. New ones wait until the plugin is back, and those of
    other vendors do not notice. Source: ROCm/k8s-device-plugin#184.
    """
    nvidia = lab.node("nvidia-0")
    holder = lab.submit(pod("holder", limits={"nvidia.com/gpu": 1}))
    lab.expect(holder).running().holds_devices(1)
    nvidia.stop_plugin()
    lab.expect(nvidia).allocatable(0).capacity(8)
    lab.wait_for_scheduler(nvidia)
    late = lab.submit(pod("late", limits={"nvidia.com/gpu": 1}))
    for vendor, resource in (("amd", "amd.com/gpu"), ("ascend", "huawei.com/Ascend910")):
        lab.expect(lab.node(f"{vendor}-0")).keeps(8, lasting=1)
        lab.expect(lab.submit(pod(vendor, limits={resource: 1}))).running().holds_devices(1)
    lab.expect(late).stays_pending(because="Insufficient nvidia.com/gpu")
    lab.expect(holder).running()
    nvidia.start_plugin()
    lab.expect(late).running().sees_only_its_devices()
