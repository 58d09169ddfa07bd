"""A device plugin that tells the runtime of a file which the node does not have."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.3",
    en="A device file that is not there is noticed by the runtime, and not by the kubelet",
    zh="设备文件不存在：kubelet 不管，容器运行时才会发现",
    zh_why="""
    kubelet 不检查 Allocate 应答里的内容，原样交给容器运行时。
    文件不存在，容器就建不起来：Pod 已经准入，停在 CreateContainerError，kubelet 一直重试。
    它不会再调 Allocate，第一次的应答已经记在账上，所以 plugin 改好了也没用，得换一个新 Pod。
    """,
    tags=("allocate", "containers"),
)
def allocate_names_a_missing_file(lab: Lab) -> None:
    """The kubelet hands the plugin's answer on as it is, and keeps it for the life of the pod.

    The runtime finds no such file and cannot create the container; that is tried again and again,
    with the same answer, since nobody asks the plugin twice. A plugin that is put right helps the
    next pod only.
    """
    node = lab.node()
    asked = len(node.calls("Allocate"))
    node.fault("Allocate", nth=1, answers="unknown-device")
    unlucky = lab.submit(pod("unlucky", limits={lab.resource: 1}))
    lab.expect(unlucky).waiting(because="CreateContainerError")
    lab.expect(unlucky).event("Failed", because="gpulab-unknown-device", times=2, within=60)
    lab.expect(node).asked("Allocate", asked + 1)
    lab.expect(lab.submit(pod("lucky", limits={lab.resource: 1}))).running().holds_devices(1)
