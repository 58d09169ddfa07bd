"""IDs of generic devices, and what a container gets with them."""

from fake_plugin.device import Device
from fake_plugin.hardware.card import Card
from fake_plugin.plan import Share
from fake_plugin.vendors import generic, visible


def uid(node: str, pool: str, index: int) -> str:
    """Return the ID that a device gets."""
    return generic.card(node, Share(pool, f"{pool}-0", index + 1), index, index).uid


def device(name: str, index: int) -> Device:
    """Return a device."""
    return Device(name, Card(name, "chapter", index, index))


def test_ids_are_the_same_for_ever() -> None:
    """An ID is in checkpoints and manifests: it must not change with a version of the plugin."""
    assert uid("worker", "chapter", 0) == "fake-8cc61c99-aa60-5fa0-8a55-bb952cf01f8a"


def test_ids_are_unique_and_fit() -> None:
    """Node, pool and index each make another device; a kubelet wants 63 characters at most."""
    places = [(node, pool, index) for node in "ab" for pool in "xy" for index in range(20)]
    ids = {uid(*place) for place in places}
    assert len(ids) == 80
    assert {len(each) for each in ids} == {41}


def test_a_container_sees_exactly_its_devices() -> None:
    """Variables hold the IDs, and there is one device file each, numbered as in the pool."""
    answer = generic.container_answer("example.com/device", [device("d3", 3), device("d0", 0)])
    assert dict(answer.envs) == {
        "GPULAB_VISIBLE_DEVICES": "d3,d0",
        "GPULAB_VISIBLE_DEVICES_EXAMPLE_COM_DEVICE": "d3,d0",
    }
    assert [(file.container_path, file.host_path, file.permissions) for file in answer.devices] == [
        ("/dev/gpulab/example.com/device/3", "/dev/null", "rw"),
        ("/dev/gpulab/example.com/device/0", "/dev/null", "rw"),
    ]


def test_resources_of_one_container_do_not_clash() -> None:
    """Only the short variable is shared; all else bears the name of the resource."""
    first = generic.container_answer("example.com/a", [device("d0", 0)])
    second = generic.container_answer("example.com/b-2", [device("d0", 0)])
    assert set(first.envs) & set(second.envs) == {"GPULAB_VISIBLE_DEVICES"}
    assert visible.variable_of("example.com/b-2") == "GPULAB_VISIBLE_DEVICES_EXAMPLE_COM_B_2"
    assert first.devices[0].container_path != second.devices[0].container_path
