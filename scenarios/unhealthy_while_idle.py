"""A device that breaks while no pod holds it."""

from lab.harness import Lab, scenario


@scenario(
    section="4.5.2",
    en="A broken device leaves allocatable, and stays in capacity",
    zh="坏掉的设备从 allocatable 里消失，但仍算在 capacity 里",
    zh_why="""
    plugin 通过 ListAndWatch 把坏掉的设备标成 Unhealthy，而不是从列表里删掉它。
    kubelet 的算法很简单：capacity 是全部设备，allocatable 只数健康的。
    两个数字不一样，就说明有设备坏了，或者 plugin 不在了；修好之后 allocatable 会自己恢复。
    """,
    tags=("health",),
)
def unhealthy_while_idle(lab: Lab) -> None:
    """Capacity counts every device of the plugin's list, allocatable the healthy ones alone.

    The plugin sends a new list, and the kubelet writes the number with its next status. Nobody has
    to restart anything, neither for the failure nor for the repair. Source: Kubernetes,
    pkg/kubelet/cm/devicemanager/manager.go, GetCapacity.
    """
    node = lab.node()
    node.break_device("chapter/0")
    lab.expect(node).allocatable(1).capacity(2)
    node.mend("chapter/0")
    lab.expect(node).allocatable(2).capacity(2)
