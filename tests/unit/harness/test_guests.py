"""Plugins that a test brings along: what their pods are told, and what they tell a kubelet."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fake_plugin.faults.fault import Delay
from fake_plugin.fleet.reading import read_plan
from lab.embedded.clock import RealClock
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.node import Settings
from lab.embedded.profile import PROFILES
from lab.harness import registering
from lab.harness.guests import Host

FOLDER = "/var/lib/kubelet/device-plugins"
HOST = Host("w", FOLDER, "plugin:1")


@pytest.fixture
def kubelet(folder: Path) -> Iterator[DeviceManager]:
    """Return a kubelet that runs."""
    kubelet = DeviceManager(folder, Settings(profile=PROFILES["1.36"]), RealClock(20))
    kubelet.start()
    yield kubelet
    kubelet.stop()


def mounts_of(manifest: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a pod's volumes by the path at which its only container has them."""
    (container,) = manifest["spec"]["containers"]
    volumes = {each["name"]: each for each in manifest["spec"]["volumes"]}
    return {each["mountPath"]: volumes[each["name"]] for each in container["volumeMounts"]}


def test_a_guest_reads_its_fleet_from_its_own_pod(tmp_path: Path) -> None:
    """The plugin's own reader takes it, faults and all."""
    late = {"call": "Register", "delay": "2s"}
    made = HOST.plugin("late", "late.example.com/device", 3, faults=[late])
    (text,) = made["metadata"]["annotations"].values()
    file = tmp_path / "fleet.yaml"
    file.write_text(text)
    plan = read_plan(file, "w")
    assert [(each.pool, each.count) for each in plan.shares] == [("late", 3)]
    assert [each.effect for each in plan.faults] == [Delay(2)]


def test_a_guest_is_told_where_all_of_it_is() -> None:
    """Its options name what is mounted, on the node that was chosen, in the plugin's image."""
    made = HOST.plugin("guest", "guest.example.com/device", 1)
    (container,) = made["spec"]["containers"]
    mounts = mounts_of(made)
    (item,) = mounts["/etc/gpu-lab"]["downwardAPI"]["items"]
    assert made["spec"]["nodeSelector"] == {"kubernetes.io/hostname": "w"}
    assert container["image"] == "plugin:1"
    assert container["args"] == [
        f"--fleet=/etc/gpu-lab/{item['path']}",
        "--node=w",
        f"--device-plugin-dir={FOLDER}",
        "--state-dir=/var/lib/gpu-lab",
    ]
    assert item["fieldRef"] == {"fieldPath": "metadata.annotations['gpu-lab/fleet']"}
    assert "emptyDir" in mounts["/var/lib/gpu-lab"]


@pytest.mark.parametrize("mounted", [True, False])
def test_the_folder_of_sockets_is_the_nodes_or_is_not_there(*, mounted: bool) -> None:
    """What it is called inside is what it is called on the node."""
    mounts = mounts_of(HOST.plugin("guest", "guest.example.com/device", 1, mounted=mounted))
    wanted = {"path": FOLDER, "type": "Directory"} if mounted else None
    assert mounts.get(FOLDER, {}).get("hostPath") == wanted


def test_a_registrar_prints_what_the_kubelet_says(
    kubelet: DeviceManager, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line for each name, in the kubelet's words."""
    assert kubelet.socket == folder / "kubelet.sock"
    registering.main([str(folder), "gpu", "requests.nvidia.com/gpu"])
    assert capsys.readouterr().out == (
        'gpu: the ResourceName "gpu" is invalid\n'
        'requests.nvidia.com/gpu: the ResourceName "requests.nvidia.com/gpu" is invalid\n'
    )


def test_a_registrars_pod_has_the_whole_program() -> None:
    """It ends by itself, and is not started again."""
    made = HOST.registrar("misnamed", "gpu", "nvidia.com/")
    (container,) = made["spec"]["containers"]
    python, option, program, *arguments = container["command"]
    assert (python, option, arguments) == ("python3", "-c", [FOLDER, "gpu", "nvidia.com/"])
    assert program == Path(registering.__file__).read_text(encoding="utf-8")
    assert made["spec"]["restartPolicy"] == "Never"


def test_a_plugin_that_is_found_has_the_folder_in_which_it_is_looked_for() -> None:
    """Which is beside that of the sockets; and time to take its socket away."""
    made = HOST.found_plugin("found", "found.example.com/device", 2)
    (container,) = made["spec"]["containers"]
    registry = "/var/lib/kubelet/plugins_registry"
    assert container["command"][3:] == [registry, "found.example.com/device", "2"]
    assert mounts_of(made)[registry]["hostPath"] == {"path": registry, "type": "Directory"}
    assert made["spec"]["terminationGracePeriodSeconds"] == 5
