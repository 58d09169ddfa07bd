"""A device that breaks and recovers many times."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    en="However a device flaps, the number settles at the truth, and nothing restarts",
    zh="设备再怎么抖动，数字最后都会回到真实状态，而且什么都不会重启",
    zh_why="""
    ListAndWatch 的每条消息都是完整列表，后一条覆盖前一条，
    所以中间丢掉几次变化没有关系，最后一次说了算。
    节点 status 由 kubelet 定期写，抖动的过程多半根本看不到；
    对监控来说，不能指望从 allocatable 里数出抖动的次数。
    """,
    tags=("health",),
)
def flapping_settles_at_the_truth(lab: Lab) -> None:
    """Each message of ListAndWatch is the whole list: what lies between two of them may be lost.

    The plugin sends at most one list in 20 ms, and the kubelet writes its status every ten seconds
    by default, so few of the changes are ever seen; the last one is. Plugin and pods go on. See
    kubernetes/kubernetes#60388 for what people expect instead.
    """
    node = lab.node()
    holder = lab.submit(pod("holder", limits={lab.resource: 1}))
    lab.expect(holder).running()
    registered = len(node.calls("Register"))
    with lab.expect(holder).undisturbed(lasting=3):
        node.flap("chapter/0", "chapter/1", times=49, every=0.05)
    lab.expect(node).allocatable(0).capacity(2)
    node.flap("chapter/0", times=25, every=0.02)
    lab.expect(node).allocatable(1).keeps(1, lasting=2)
    lab.expect(node).asked("Register", registered)
