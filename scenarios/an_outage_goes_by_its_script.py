"""Devices that break one after the other, and recover, by the clock."""

from lab.harness import Lab, pod, scenario

SCRIPT = (
    {"at": "1s", "device": 0, "becomes": "unhealthy"},
    {"at": "20s", "device": 1, "becomes": "unhealthy"},
    {"at": "45s", "device": 0, "becomes": "healthy"},
    {"at": "45s", "device": 1, "becomes": "healthy"},
)


@scenario(
    section="4.5.2",
    en="Devices break one by one and recover; who holds one runs on, and who waits runs then",
    zh="设备按脚本接连坏掉又恢复：占着的 Pod 照常运行，等着的 Pod 恢复以后自己就能跑",
    zh_why="""
    故障很少只来一下。脚本按时间表让两个设备先后变成 Unhealthy，再一起恢复，
    allocatable 就跟着走：2、1、0、2，capacity 一直是 2。
    已经占着设备的 Pod 从头到尾没人动它；这期间来的 Pod 一直 Pending，
    设备恢复以后不用谁去重建，scheduler 自己会再试。
    演练告警和自愈时，用同一份脚本就能重现同一次故障。
    """,
    tags=("health", "scheduling"),
)
def an_outage_goes_by_its_script(lab: Lab) -> None:
    """Allocatable follows what breaks and recovers; capacity is what the node has, all the time.

    Neither end of the outage needs anybody: a pod that holds a device is left alone, and one that
    waits is tried again when the node offers more (pkg/scheduler, queueing hints). With one script
    an alarm, or an operator, sees the same outage each time.
    """
    node = lab.node()
    holder = lab.submit(pod("holder", limits={lab.resource: 1}))
    lab.expect(holder).running()
    with lab.expect(holder).undisturbed():
        node.script(SCRIPT)
        lab.expect(node).allocatable(1).capacity(2)
        lab.expect(node).allocatable(0).capacity(2)
        waiting = lab.submit(pod("waiting", limits={lab.resource: 1}))
        lab.expect(waiting).stays_pending(because=f"Insufficient {lab.resource}")
        lab.expect(node).allocatable(2, within=90).capacity(2)
        lab.expect(waiting).running().holds_devices(1).sees_only_its_devices()
