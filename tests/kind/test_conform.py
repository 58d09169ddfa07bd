"""A device plugin of one's own on a real kubelet, tried by `gpulab conform --image`."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kind.machine import Lab, Machine

#: A plugin with vices, of which the image of ours has all that it needs.
BAD_PLUGIN = Path(__file__).parents[1] / "unit" / "conformance" / "bad_plugin.py"
FLEET = """\
apiVersion: gpu-lab/v1
kind: Fleet
pools:
- {name: own, nodes: 1, resource: a.b/own, count: 3}
"""
OURS = (
    'mkdir /tmp/state && printf "$0" >/tmp/fleet && exec python3 -m fake_plugin '
    '--fleet /tmp/fleet --node own-0 --state-dir /tmp/state --device-plugin-dir "$1"'
)


@pytest.fixture(scope="module")
def lab(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Return a lab of these tests' own: the names of resources stay on its node."""
    with machine.lab("t-conform", tmp_path_factory.mktemp("conform")) as lab:
        yield lab


def report(lab: Lab, *command: str) -> dict[str, Any]:
    """Return the report on what the image of our plugin runs; nothing of that is left."""
    image = lab.plugin_pod()["spec"]["containers"][0]["image"]
    options = ["--image", image, "--plugin-command", shlex.join(command), "--name", lab.name]
    ended = lab.machine.gpulab("conform", *options, "--timeout", "90", "--output", "json")
    assert ended.stdout, ended.stderr
    pods = lab.get("pods", "--all-namespaces")["items"]
    names = [each["metadata"]["name"] for each in pods]
    assert not [each for each in names if each.startswith("gpulab-conform")]
    found: dict[str, Any] = json.loads(ended.stdout)
    assert ended.returncode == (1 if found["failed"] else 0)
    return found


def test_our_plugin_keeps_the_contract_on_a_real_kubelet(lab: Lab) -> None:
    """Beside the lab's own, with a resource of its own."""
    found = report(lab, "sh", "-c", OURS, FLEET, "{dir}")
    assert [each["seen"] for each in found["checks"] if each["verdict"] != "passed"] == []
    assert found["resource"] == "a.b/own"


def test_a_plugin_that_does_not_notice_the_kubelets_restart_fails(lab: Lab) -> None:
    """And so does one whose CDI device no runtime can find, which no kubelet alone would tell."""
    found = report(lab, "python3", "-c", BAD_PLUGIN.read_text(), "{dir}", "deaf")
    failed = {each["id"]: each["seen"] for each in found["checks"] if each["verdict"] == "failed"}
    assert list(failed) == ["pod-gets-device", "cluster-kubelet-restart"]
    assert "unresolvable CDI devices a.b/gpu=0" in failed["pod-gets-device"]
    assert failed["cluster-kubelet-restart"].startswith("the node shows 0 of 4")
