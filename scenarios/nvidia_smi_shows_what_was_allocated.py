"""A pod with two of eight cards looks at them."""

from lab.harness import Lab, pod, scenario

SMI = """
nvidia-smi -L
echo cards: $(nvidia-smi -L | grep -c ^GPU)
echo files: $(ls /dev | grep -c '^nvidia[0-9]')
exec sleep 86400
"""


@scenario(
    section="4.4",
    fleet="h100-and-l4",
    en="nvidia-smi in a container shows the cards that it was given, of all that the node has",
    zh="容器里的 nvidia-smi 只显示分配给它的卡，而不是节点上所有的卡",
    zh_why="""
    节点有 8 张卡，Pod 申请 2 张：nvidia-smi 里就是 2 张，编号从 0 开始，
    UUID 就是 kubelet 选中的那两张。/dev 下也只有这两张卡的设备文件，另外 6 张在容器里不存在。
    所以容器里的「GPU 0」不一定是节点上的 0 号卡，对照时要看 UUID。
    """,
    tags=("containers", "allocate"),
)
def nvidia_smi_shows_what_was_allocated(lab: Lab) -> None:
    """Two of the node's eight: the tool, the variable and the files in /dev agree on which.

    It counts from 0 in every container, so GPU 0 here need not be card 0 of the node: what tells
    them apart is the UUID.
    """
    two = lab.submit(pod("two", limits={lab.resource: 2}, node=lab.node("h100-0").name, script=SMI))
    lab.expect(two).running().holds_devices(2).logs("cards: 2\n").logs("files: 2\n")
    for uuid in lab.expect(two).devices():
        lab.expect(two).logs(f"(UUID: {uuid})")
