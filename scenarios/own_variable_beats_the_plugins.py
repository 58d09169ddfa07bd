"""A container that sets the variable by which the plugin names its cards."""

from lab.harness import Lab, container, pod, scenario


@scenario(
    section="4.5.3",
    fleet="h100-and-l4",
    en="A variable of the pod's own beats the plugin's: NVIDIA_VISIBLE_DEVICES=all stays all",
    zh="Pod 自己写的变量优先于 plugin 给的：NVIDIA_VISIBLE_DEVICES=all 就是 all",
    zh_why="""
    kubelet 先放 plugin 应答里的变量，再放 Pod 里写的，同名的以后者为准，也没有任何提示。
    所以镜像或 YAML 里写死 NVIDIA_VISIBLE_DEVICES=all，容器就可能越过分配看到节点上所有的卡，
    用的还是别人的。用 CDI 或设备文件交付，或者让运行时不认这个变量，才堵得住。
    """,
    tags=("containers", "allocate"),
)
def own_variable_beats_the_plugins(lab: Lab) -> None:
    """The kubelet appends a container's variables to the plugin's, so the last one counts.

    One card was allocated, and the variable says all: a runtime that goes by it shows the node's
    cards, and nobody is told. CDI and device files have no such door. Source: Kubernetes'
    pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables.
    """
    greedy = container(
        limits={lab.resource: 1},
        env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}],
        script="echo the runtime is told: $NVIDIA_VISIBLE_DEVICES; exec sleep 86400",
    )
    node = lab.node("h100-0").name
    own = lab.submit(pod("own", containers=[greedy], node=node))
    lab.expect(own).running().holds_devices(1).logs("the runtime is told: all\n")
    rest = lab.submit(pod("rest", limits={lab.resource: 7}, node=node))
    lab.expect(rest).running().holds_devices(7).sees_only_its_devices()
