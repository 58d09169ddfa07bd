"""A device plugin that never calls Register."""

from lab.harness import Lab, pod, scenario

RESOURCE = "found.example.com/device"


@scenario(
    section="4.5.2",
    erratum=3,
    tags=("errata", "registration"),
    en="A plugin need not register: the kubelet also finds sockets in plugins_registry",
    zh="plugin 也可以不注册：kubelet 会自己去 plugins_registry 里找",
    zh_why="""
    教材里的 pluginregistration 是另一条注册的路，方向正好相反：
    plugin 把 socket 放进 plugins_registry 目录，kubelet 盯着这个目录，
    主动拨过来问“你是谁、叫什么名字”，然后告诉它收没收下；
    之后的 ListAndWatch、Allocate，两条路完全一样。
    CSI 和 DRA 驱动走的就是这条路。好处是 kubelet 重启后自己会再找一遍；socket 一删，就当作注销。
    """,
)
def kubelet_finds_a_plugin(lab: Lab) -> None:
    """The chapter's `pluginregistration` is a second way, and the other way round.

    The kubelet watches a folder, dials each socket in it, and asks what it is; then it tells
    whether it takes it. What follows is the same as after Register. A socket that is removed takes
    its plugin away (pkg/kubelet/pluginmanager).
    """
    node = lab.node()
    plugin = lab.bring_found_plugin(node, "found", RESOURCE)
    lab.expect(plugin).logs("the kubelet asks what this is").logs("the kubelet says: it is taken")
    lab.expect(node).allocatable(1, RESOURCE)
    user = lab.submit(pod("user", limits={RESOURCE: 1}))
    lab.expect(user).logs("found-0")
    with lab.expect(user).undisturbed():
        lab.delete(plugin)
        lab.expect(node).allocatable(0, RESOURCE)
