"""How the containers of one pod share what init containers had.

Source: devicemanager/manager.go:Allocate.
"""

import pytest

from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.pod import Container, Kind, Pod
from tests.unit.embedded.conftest import Serve
from tests.unit.embedded.plugin import RESOURCE, healthy
from tests.unit.embedded.pods import devices_of, init, pod_of, pod_with, refused


def app(name: str, count: int) -> Container:
    """Return an app container that needs so many devices."""
    return Container(name, {RESOURCE: count})


def test_an_app_container_takes_over_from_an_init_container(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """One device does for both, since they do not run at once."""
    serve(healthy("a"))
    assert kubelet.admit(pod_with("u", init("init", 1), app("app", 1))) is None
    assert devices_of(kubelet, "u", "init") == devices_of(kubelet, "u", "app") == {"a"}


def test_init_containers_take_over_from_each_other(kubelet: DeviceManager, serve: Serve) -> None:
    """What one lacks, it takes of the free ones."""
    serve(healthy("a", "b"))
    assert kubelet.admit(pod_with("u", init("one", 1), init("two", 2), app("app", 1))) is None
    assert devices_of(kubelet, "u", "one") < devices_of(kubelet, "u", "two") == {"a", "b"}


def test_app_containers_never_share(kubelet: DeviceManager, serve: Serve) -> None:
    """The first takes its devices out of what is left of the init container's."""
    serve(healthy("a", "b"))
    assert kubelet.admit(pod_with("u", init("init", 2), app("one", 1), app("two", 1))) is None
    one, two = devices_of(kubelet, "u", "one"), devices_of(kubelet, "u", "two")
    assert one | two == {"a", "b"}
    assert not one & two


def test_a_sidecar_keeps_its_devices(kubelet: DeviceManager, serve: Serve) -> None:
    """It runs beside the others, though it starts as an init container."""
    serve(healthy("a", "b"))
    sidecar = init("sidecar", 1, Kind.SIDECAR)
    assert kubelet.admit(pod_with("u", init("init", 1), sidecar, app("app", 1))) is None
    assert devices_of(kubelet, "u", "sidecar") == devices_of(kubelet, "u", "init")
    assert not devices_of(kubelet, "u", "sidecar") & devices_of(kubelet, "u", "app")


def test_what_is_missing_after_reuse_is_counted(kubelet: DeviceManager, serve: Serve) -> None:
    """The refusal names what is still needed, not the whole request."""
    serve(healthy("a", "b"))
    assert refused(kubelet, pod_with("u", init("init", 1), app("app", 3))) == (
        f"requested number of devices unavailable for {RESOURCE}. Requested: 2, Available: 1"
    )


def test_a_surplus_of_an_init_container_is_held_for_the_pods_life(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """Though nothing uses it any more (#71312)."""
    serve(healthy("a", "b", "c"))
    kubelet.admit(pod_with("u", init("init", 3), app("app", 1)))
    assert refused(kubelet, pod_of("v", 1)).endswith("Requested: 1, Available: 0")


def test_the_plugin_is_asked_for_reused_devices_as_well(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """Each container has an answer of its own."""
    serve(healthy("a"))
    kubelet.admit(pod_with("u", init("init", 1), app("app", 1)))
    assert len(kubelet.journal.calls("Allocate")) == 2


def test_another_pod_ends_the_reuse(kubelet: DeviceManager, serve: Serve) -> None:
    """A pool is for one pod, which is admitted as a whole."""
    serve(healthy("a", "b"))
    kubelet.admit(pod_with("u", init("init", 1)))
    kubelet.admit(pod_of("v", 1))
    assert devices_of(kubelet, "v") != devices_of(kubelet, "u", "init")


@pytest.mark.parametrize(
    ("containers", "request_"),
    [
        ([app("a", 1), app("b", 2)], 3),
        ([init("i", 5), app("a", 1)], 5),
        ([init("i", 1), app("a", 2)], 2),
        ([init("s", 1, Kind.SIDECAR), app("a", 2)], 3),
        ([init("s", 1, Kind.SIDECAR), init("i", 4), app("a", 2)], 5),
        ([init("i", 4), init("s", 1, Kind.SIDECAR), app("a", 2)], 4),
        ([init("s", 2, Kind.SIDECAR), init("t", 3, Kind.SIDECAR)], 5),
        ([Container("a", {})], None),
    ],
)
def test_the_request_of_a_pod_is_what_it_needs_at_once(
    containers: list[Container], request_: int | None
) -> None:
    """Sidecars count from their start on, other init containers beside those before them."""
    assert Pod("u", "u", tuple(containers)).request().get(RESOURCE) == request_
