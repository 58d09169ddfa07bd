"""A card falls off the bus while a container works with it."""

from lab.harness import Lab, pod, scenario

WATCH = """
nvidia-smi -L
until nvidia-smi --query-gpu=uuid,temperature.gpu --format=csv,noheader | grep lost; do
    sleep 1
done
exec sleep 86400
"""


@scenario(
    section="4.4",
    fleet="h100-and-l4",
    en="A card that falls off the bus looks lost in the container that holds it, which runs on",
    zh="卡掉了（XID 79），占着它的容器里看得到「GPU is lost」，但容器照常运行",
    zh_why="""
    Kubernetes 只是把这张卡标为 Unhealthy，不再分配给别人；容器不会被重启，Pod 仍然是 Running、
    Ready。真正发现问题的是容器里的程序：nvidia-smi 报 GPU is lost，CUDA 调用开始出错。
    所以训练任务要自己做健康检查，不能指望 Pod 状态会变。
    """,
    tags=("health", "containers"),
)
def a_lost_gpu_looks_lost_in_its_container(lab: Lab) -> None:
    """To Kubernetes the pod is Running and Ready; who notices is the program, when its calls fail.

    The device is not given out again, and that is all that health does. A job that is to survive it
    has to look for itself, or needs somebody who deletes its pod. Source:
    kubernetes/kubernetes#60388.
    """
    node = lab.node("h100-0")
    worker = lab.submit(pod("worker", limits={lab.resource: 1}, node=node.name, script=WATCH))
    lab.expect(worker).running().logs("GPU 0: NVIDIA H100")
    with lab.expect(worker).undisturbed():
        node.break_device(*lab.expect(worker).devices(), xid=79)
        lab.expect(node).allocatable(7)
        lab.expect(worker).logs("GPU is lost").running()
