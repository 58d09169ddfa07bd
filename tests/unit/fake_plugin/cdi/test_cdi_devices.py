"""How what several pools publish becomes one spec for each kind."""

from fake_plugin.cdi import rules
from fake_plugin.cdi.devices import CdiDevices, specs_of
from fake_plugin.cdi.spec import Edits, Spec

ONE, TWO = Edits(env=("ONE=1",)), Edits(env=("TWO=2",))
KIND = "example.com/gpu"


def of_pool(name: str, common: Edits) -> CdiDevices:
    """Return one device, which sets the variable DEVICE, and what comes with it."""
    return CdiDevices("example.com", "gpu", {name: Edits(env=(f"DEVICE={name}",))}, common)


def spec_of(*several: CdiDevices) -> Spec:
    """Return the only spec of these pools, which must break no rule."""
    ((kind, spec),) = specs_of(several).items()
    assert kind == spec.kind == KIND
    assert rules.check(spec.document()) == []
    return spec


def env(spec: Spec) -> dict[str, tuple[str, ...]]:
    """Return the variables of each device."""
    return {device.name: device.edits.env for device in spec.devices}


def test_what_all_pools_say_is_said_once() -> None:
    """The edits of a spec are made in a container with any of its devices."""
    spec = spec_of(of_pool("a", ONE), of_pool("b", ONE))
    assert spec.edits == ONE
    assert env(spec) == {"all": ("DEVICE=a", "DEVICE=b"), "a": ("DEVICE=a",), "b": ("DEVICE=b",)}


def test_what_pools_differ_in_comes_with_their_own_devices() -> None:
    """No pool's edits are lost, and none are made for the devices of another."""
    spec = spec_of(of_pool("a", ONE), of_pool("b", TWO))
    assert spec.edits == Edits()
    assert env(spec) == {
        "all": ("ONE=1", "DEVICE=a", "TWO=2", "DEVICE=b"),
        "a": ("ONE=1", "DEVICE=a"),
        "b": ("TWO=2", "DEVICE=b"),
    }


def test_pool_without_devices_says_nothing() -> None:
    """What would come with its devices comes with none."""
    empty = CdiDevices("example.com", "gpu", {}, TWO)
    assert spec_of(of_pool("a", ONE), empty) == spec_of(of_pool("a", ONE))
    assert specs_of([empty]) == {}
