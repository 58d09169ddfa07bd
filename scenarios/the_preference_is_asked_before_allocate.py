"""The call by which a plugin says which devices it would rather give out."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.5.2",
    fleet="h100-and-l4",
    en="The optional call is GetPreferredAllocation, and the kubelet makes it before Allocate",
    zh="可选接口的名字是 GetPreferredAllocation，kubelet 在 Allocate 之前调用它",
    zh_why="""
    教材里的 GetDevicePreference 并不存在，v1beta1 接口里这个调用叫 GetPreferredAllocation。
    plugin 要先在 GetDevicePluginOptions 里声明支持，kubelet 才会问；每次分配问一次，
    把空闲设备的 ID 和数量发过来，plugin 回答想给哪几个，随后 kubelet 才发 Allocate。
    """,
    tags=("allocate", "errata"),
    erratum=3,
)
def the_preference_is_asked_before_allocate(lab: Lab) -> None:
    """No plugin and no kubelet knows a call GetDevicePreference.

    The kubelet asks where the plugin's options say that it can be asked, once for each resource of
    a container, and takes the answer as a wish. Then it calls Allocate, with the IDs that it has
    settled on. Source: Kubernetes' pkg/apis/deviceplugin/v1beta1/api.proto.
    """
    node = lab.node("h100-0")
    before = [len(node.calls(each)) for each in ("GetPreferredAllocation", "Allocate")]
    two = lab.submit(pod("two", limits={node.resource: 2}, node=node.name))
    lab.expect(two).running().holds_devices(2).on_numa_nodes(1)
    lab.expect(node).asked("GetPreferredAllocation", before[0] + 1).asked("Allocate", before[1] + 1)
    lab.expect(node).asked_before("GetPreferredAllocation", "Allocate")
    for device in lab.expect(two).devices():
        lab.expect(node).answered("GetPreferredAllocation", device)
