"""Names of resources that no kubelet takes."""

from lab.harness import Lab, scenario

#: No domain, an empty name, capitals in the domain, a prefix of quotas, Kubernetes' own domain.
NAMES = (
    "gpu",
    "nvidia.com/",
    "NVIDIA.com/gpu",
    "requests.nvidia.com/gpu",
    "a.kubernetes.io/gpu",
)


@scenario(
    section="4.5.2",
    tags=("registration",),
    en="The kubelet refuses a resource whose name breaks the rules",
    zh="资源名不合规，kubelet 拒绝注册",
    zh_why="""
    资源名必须是“厂商域名/名字”：域名要小写，不能是 kubernetes.io 的，
    也不能以 requests. 开头，那是配额用的写法。
    kubelet 先看名字，再去连 plugin 的 socket，所以名字不对的 plugin 连设备列表都没有机会上报。
    Register 返回的错误只有 plugin 自己看得到：排查“节点上没有这个资源”，先看 plugin 的日志。
    """,
)
def kubelet_refuses_bad_names(lab: Lab) -> None:
    """A name has a vendor's domain, in lower case, before its slash; and some domains are taken.

    The kubelet looks at the name before it dials the plugin, and answers the plugin alone: neither
    the node nor any event tells of it (pkg/apis/core/v1/helper/helpers.go, IsExtendedResourceName).
    """
    plugin = lab.submit(lab.node().host.registrar("misnamed", *NAMES))
    lab.expect(plugin).succeeded()
    for name in NAMES:
        lab.expect(plugin).logs(f'{name}: the ResourceName "{name}" is invalid')
