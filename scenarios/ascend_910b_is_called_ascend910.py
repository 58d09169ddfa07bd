"""The name under which an Ascend 910B is asked for."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.6",
    fleet="three-vendors",
    en="An Ascend 910B is asked for as huawei.com/Ascend910, not as huawei.com/ascend-910b",
    zh="910B 的资源名是 huawei.com/Ascend910；没有哪家的 plugin 注册 huawei.com/ascend-910b",
    zh_why="""
    昇腾官方 plugin 按芯片系列取名，910A、910B 和 A3 都叫 huawei.com/Ascend910；
    HAMi 的叫 Ascend910B3 之类。按教材写 huawei.com/ascend-910b，Pod 能创建，却一直 Pending：
    没有节点有这个名字，API server 也不会提醒。实验环境可以用 alias 把它当作别名提供，
    资源名本来就只是 plugin 注册时报的一个字符串。
    """,
    tags=("vendors", "errata", "scheduling"),
    erratum=6,
)
def ascend_910b_is_called_ascend910(lab: Lab) -> None:
    """A name that nobody registers is not an error: the pod is accepted and waits for ever.

    The vendor's plugin has one name for 910A, 910B and A3; HAMi's has one for each chip. A name is
    what a plugin says when it registers, so a lab can serve the other one as an alias. Source:
    Ascend/mind-cluster, component/ascend-common/api/default_name.go.
    """
    lab.expect(lab.node("ascend-0")).allocatable(8, "huawei.com/Ascend910")
    official = lab.submit(pod("official", limits={"huawei.com/Ascend910": 1}))
    lab.expect(official).running().holds_devices(1)
    other = lab.submit(pod("other", limits={"huawei.com/ascend-910b": 1}))
    lab.expect(other).stays_pending(because="Insufficient huawei.com/ascend-910b")
    lab.delete(official)
    lab.place("three-vendors-alias")
    lab.expect(other).running().on(lab.node("ascend-0").name).holds_devices(1)
