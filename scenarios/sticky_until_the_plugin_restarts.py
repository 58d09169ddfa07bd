"""A GPU that was mended, and that its plugin goes on calling unhealthy."""

from lab.harness import Lab, scenario


@scenario(
    section="4.5.2",
    fleet="sticky-and-prepared",
    en="To NVIDIA's plugin a GPU that was unhealthy once stays so until the plugin restarts",
    zh="NVIDIA plugin 一旦判定 GPU 不健康，修好了也要重启 plugin 才认",
    zh_why="""
    NVIDIA plugin 收到致命 Xid 就把卡标成 Unhealthy，但没有反过来的事件：没有人告诉它卡好了。
    所以换卡、复位之后 allocatable 还是少一个，后面再发多少次列表也一样。
    重启 plugin 的 Pod，它重新扫描，卡才回来。运维手册里要写上这一步。
    """,
    tags=("health", "restart", "vendors"),
)
def sticky_until_the_plugin_restarts(lab: Lab) -> None:
    """NVIDIA's plugin is told of failures by events of the driver, and no event tells of a repair.

    Later lists call the card unhealthy, too; only a new start of the plugin looks at all cards
    anew. A change that would have taken it back was not merged. Source: NVIDIA/k8s-device-plugin,
    internal/plugin/server.go (ListAndWatch), #189, #426, #1211.
    """
    node = lab.node("sticky-0")
    node.break_device("sticky/0", xid=79)
    lab.expect(node).allocatable(1).capacity(2)
    node.mend("sticky/0")
    node.break_device("sticky/1", xid=79)
    lab.expect(node).allocatable(0).capacity(2)
    node.mend("sticky/1")
    node.restart_plugin()
    lab.expect(node).allocatable(2).capacity(2)
