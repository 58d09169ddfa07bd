"""The health of devices in the status of a pod, and who is told of a change.

Source: devicemanager/manager.go:UpdateAllocatedResourcesStatus.
"""

import logging
import queue

import pytest

from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.pod import Container
from tests.unit.embedded.conftest import Serve, lose, send
from tests.unit.embedded.plugin import RESOURCE, healthy, unhealthy
from tests.unit.embedded.pods import init, pod_of, pod_with


def told(kubelet: DeviceManager) -> list[frozenset[str]]:
    """Return the pods that were told of since the last look."""
    news = []
    while True:
        try:
            news.append(kubelet.updates.get_nowait())
        except queue.Empty:
            return news


def test_the_status_has_the_health_of_each_device(kubelet: DeviceManager, serve: Serve) -> None:
    """Of app containers alone, by resource."""
    plugin = serve(healthy("a"))
    pod = pod_with("u", init("init", 1), Container("app", {RESOURCE: 1}))
    kubelet.admit(pod)
    assert kubelet.device_health(pod) == {"app": {RESOURCE: {"a": "Healthy"}}}
    send(kubelet, plugin, unhealthy("a"))
    assert kubelet.device_health(pod) == {"app": {RESOURCE: {"a": "Unhealthy"}}}


@pytest.mark.parametrize("what", ["device", "plugin", "kubelet"])
def test_what_is_not_known_looks_healthy(kubelet: DeviceManager, serve: Serve, what: str) -> None:
    """A device that is not listed any more; one whose plugin died; all after a restart."""
    plugin = serve(healthy("a"))
    pod = pod_of("u", 1)
    kubelet.admit(pod)
    if what == "device":
        send(kubelet, plugin, healthy("b"))
    elif what == "plugin":
        lose(kubelet, plugin)
    else:
        send(kubelet, plugin, unhealthy("a"))
        kubelet.restart()
    assert kubelet.device_health(pod) == {"app": {RESOURCE: {"a": "Healthy"}}}


@pytest.mark.parametrize("profile", ["1.34", "1.35"], indirect=True)
def test_older_versions_say_nothing(kubelet: DeviceManager, serve: Serve) -> None:
    """The gate is off by default up to 1.35, for the status and the news."""
    plugin = serve(healthy("a"))
    pod = pod_of("u", 1)
    kubelet.admit(pod)
    send(kubelet, plugin, unhealthy("a"))
    assert (kubelet.device_health(pod), told(kubelet)) == ({}, [])


@pytest.mark.parametrize("profile", ["1.36", "1.37"], indirect=True)
def test_a_pod_is_told_of_when_the_health_of_its_device_changes(
    kubelet: DeviceManager, serve: Serve, clock: VirtualClock
) -> None:
    """At once, without a tick, and not where nothing has changed."""
    plugin = serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    assert told(kubelet) == []
    send(kubelet, plugin, healthy("a"))
    assert told(kubelet) == []
    send(kubelet, plugin, unhealthy("a"))
    assert told(kubelet) == [{"u"}]
    send(kubelet, plugin, healthy("a", "b"))
    assert told(kubelet) == [{"u"}]
    assert clock.now() == 0


def test_a_pod_is_told_of_when_its_device_comes_back(kubelet: DeviceManager, serve: Serve) -> None:
    """Though it looked healthy all the time; that it went was told to nobody."""
    plugin = serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    send(kubelet, plugin, healthy("b"))
    assert told(kubelet) == []
    send(kubelet, plugin, healthy("a", "b"))
    assert told(kubelet) == [{"u"}]


@pytest.mark.parametrize(
    ("profile", "wrong"), [("1.36", True), ("1.37", False)], indirect=["profile"]
)
def test_up_to_1_36_an_id_is_looked_up_under_any_resource(
    kubelet: DeviceManager, serve: Serve, *, wrong: bool
) -> None:
    """Two plugins with an ID in common: the news may go to the other one's pod."""
    for letter in "ab":
        serve(healthy("same"), resource=f"{letter}.com/x", name=f"{letter}.sock")
    kubelet.admit(pod_of("holder-of-b", 1, "b.com/x"))
    told(kubelet)
    plugin = serve(healthy("other"), resource="a.com/x", name="next.sock")
    send(kubelet, plugin, unhealthy("same"))
    assert told(kubelet) == ([{"holder-of-b"}] if wrong else [])


def test_news_that_nobody_takes_are_lost(
    kubelet: DeviceManager, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    """After a hundred, as in the kubelet, which goes on."""
    caplog.set_level(logging.ERROR)
    plugin = serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    for number in range(102):
        send(kubelet, plugin, (healthy if number % 2 else unhealthy)("a"))
    assert len(told(kubelet)) == 100
    assert [record.getMessage() for record in caplog.records] == [
        "device update channel is full, discard pods info: ['u']"
    ] * 2
