"""A device plugin that refuses to prepare a device."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    en="A pod whose Allocate fails has failed for good, with the plugin's own words",
    zh="Allocate 一失败，Pod 就彻底失败了，status 里写着 plugin 的原话",
    zh_why="""
    kubelet 在准入 Pod 时调 Allocate；出了错，Pod 直接变成 Failed，原因是 UnexpectedAdmissionError。
    kubelet 不会重试，scheduler 也不会另找节点，restartPolicy 不起作用：裸 Pod 就停在那里，
    有 Deployment 或 Job 管着的，才会有新的 Pod 来代替。设备没有丢，下一个 Pod 照样能用。
    """,
    tags=("allocate",),
)
def allocate_fails(lab: Lab) -> None:
    """Allocate is a part of admission, and admission is not tried twice: the pod is Failed.

    Its restartPolicy is of no use, and the scheduler does not look for another node. The device is
    free again, and the next pod gets it. Source: Kubernetes, pkg/kubelet/cm/admission/errors.go.
    """
    node = lab.node()
    node.fault("Allocate", nth=1, fails="device busy")
    unlucky = lab.submit(pod("unlucky", limits={lab.resource: 2}))
    lab.expect(unlucky).rejected(
        because="Allocate failed due to rpc error: code = Unknown desc = device busy, "
        "which is unexpected"
    )
    lab.expect(unlucky).event("UnexpectedAdmissionError", because="device busy")
    lab.expect(lab.submit(pod("lucky", limits={lab.resource: 2}))).running().holds_devices(2)
