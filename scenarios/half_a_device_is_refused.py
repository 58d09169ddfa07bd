"""A pod that asks for half a device."""

from lab.harness import Lab, pod, scenario


@scenario(
    section="4.9",
    tags=("requests",),
    en="Half a device cannot be asked for",
    zh="不能申请半个设备",
    zh_why="""
    扩展资源只能是整数。写 0.5，API server 先换算成 500m，再告诉你它必须是整数；
    写 1000m 反而合法，因为它就是 1。
    想用“半张卡”，要让 plugin 把一张卡拆成多份上报：MIG、时间片或者按百分比切分。
    """,
)
def half_a_device_is_refused(lab: Lab) -> None:
    """Extended resources are whole numbers; 0.5 is read as 500m, and refused.

    Less than a card is had where a plugin offers a card as several devices: partitions, replicas
    or shares, each of which is one.
    """
    name = lab.resource
    lab.refuses(
        pod("half", limits={name: "0.5"}),
        because=f"spec.containers[0].resources.limits[{name}]: "
        'Invalid value: "500m": must be an integer',
    )
    whole = lab.submit(pod("thousandths", limits={name: "1000m"}))
    lab.expect(whole).on(lab.node().name)
