"""What is laid upon a Debian system to make it a node."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from lab.core.errors import CheckFailed
from lab.images.compiler import Compiler
from lab.images.node import programs, system
from lab.images.node.adaptation import Adaptations
from lab.images.node.files import node_file
from lab.images.store import Store
from lab.images.toolchain import Go
from tests.unit.images.machine import ImageMachine, Tar

PLAIN = Adaptations(cgroup_v1=False, no_sys_resource=False)
POOR = Adaptations(cgroup_v1=True, no_sys_resource=True)
Lay = Callable[[Adaptations], Tar]


@pytest.fixture
def lay(store: Store, machine: ImageMachine, tmp_path: Path) -> Lay:  # noqa: ARG001 - on the PATH
    """Return what makes the layer for a kind of host."""
    compiler = Compiler(lambda: Go(tmp_path / "bin" / "go", "1.26.8"))
    needs = (
        programs.kubernetes_part(compiler),
        programs.containerd_part(compiler),
        programs.crictl_part(compiler),
    )

    def make(adaptations: Adaptations) -> Tar:
        for each in needs:
            store.get(each)
        product = store.get(system.system_part(compiler, adaptations, *needs))
        return Tar.read(product / "layer.tar")

    return make


def test_kinds_files_are_where_kind_has_them(lay: Lay) -> None:
    """Programs may be run, configuration may not; what only builds kind's image stays out."""
    found = lay(PLAIN).entries
    assert found["usr/local/bin/entrypoint"].mode == 0o755
    assert found["etc/containerd/config.toml"].mode == 0o644
    assert "usr/local/bin/clean-install" not in found


def test_programs_are_where_kubeadm_looks(lay: Lay) -> None:
    """One binary is kubeadm, kubectl and kubelet; containerd brings its shim."""
    found = lay(PLAIN).entries
    for name in ("kubeadm", "kubectl", "kubelet"):
        assert found[f"usr/bin/{name}"].linkname == "kubernetes"
    assert found["usr/bin/kubernetes"].mode == 0o755
    assert {"usr/local/bin/containerd", "usr/local/bin/ctr", "usr/local/bin/crictl"} <= set(found)
    assert not any(name.endswith("made.json") for name in found)


def test_services_start_and_binfmt_does_not(lay: Lay) -> None:
    """Systemd starts what kind's image starts."""
    found = lay(PLAIN).entries
    wants = "etc/systemd/system/multi-user.target.wants"
    for unit in ("containerd.service", "kubelet.service", "undo-mount-hacks.service"):
        assert found[f"{wants}/{unit}"].linkname == f"/etc/systemd/system/{unit}"
    assert found["etc/systemd/system/systemd-binfmt.service"].linkname == "/dev/null"
    assert found["usr/sbin/init"].linkname == "/lib/systemd/systemd"


def test_plain_host_changes_nothing_but_the_network(lay: Lay) -> None:
    """Where nothing is missing, kind's configuration stays as it is."""
    layer = lay(PLAIN)
    config = layer.text("etc/containerd/config.toml")
    assert "restrict_oom_score_adj = false" in config
    assert 'conf_template = "/etc/containerd/cni.conflist"' in config
    assert layer.text("etc/default/kubelet") == "KUBELET_EXTRA_ARGS=--runtime-cgroups=/x"
    assert "OOMScoreAdjust=-999" in layer.text("etc/systemd/system/containerd.service")
    assert "etc/kubernetes/kubelet.conf.d/10-host.conf" not in layer.entries


def test_poor_host_is_adapted_to(lay: Lay) -> None:
    """Cgroup v1 is accepted, and what takes a capability is not tried."""
    layer = lay(POOR)
    assert "restrict_oom_score_adj = true" in layer.text("etc/containerd/config.toml")
    assert layer.text("etc/default/kubelet") == (
        "KUBELET_EXTRA_ARGS=--config-dir=/etc/kubernetes/kubelet.conf.d --runtime-cgroups=/x"
    )
    drop_in = yaml.safe_load(layer.text("etc/kubernetes/kubelet.conf.d/10-host.conf"))
    assert drop_in["failCgroupV1"] is False
    unit = layer.text("etc/systemd/system/containerd.service")
    assert unit == "[Service]\nTasksMax=infinity\n"


def test_containers_start_without_limits_and_with_the_hook(lay: Lay) -> None:
    """Containers see their node's identity, as with kind's own image."""
    base = json.loads(lay(PLAIN).text("etc/containerd/cri-base.json"))
    assert base == {
        "process": {"cwd": "/"},
        "hooks": {"createContainer": [{"path": "/kind/bin/mount-product-files.sh"}]},
    }


def test_routes_run_from_an_image_of_the_node(lay: Lay) -> None:
    """Kind applies the manifest after it has filled it in, and may only see nodes."""
    layer = lay(PLAIN)
    text = layer.text("kind/manifests/default-cni.yaml")
    assert "would you kindly template this file" in text
    assert "would you kindly patch this file" in text
    filled = text.replace("{{ .PodSubnet }}", "10.244.0.0/16")
    account, role, binding, daemon_set = yaml.safe_load_all(filled)
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "watch"]}
    ]
    assert binding["subjects"][0]["name"] == account["metadata"]["name"]
    (container,) = daemon_set["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "localhost/gpu-lab/node-routes:v1.36.3"
    # kind adds a variable to this list, which therefore has to be there.
    assert container["env"][1] == {"name": "POD_SUBNET", "value": "10.244.0.0/16"}


def test_storage_has_a_default_class(lay: Lay) -> None:
    """Kind fails on an empty manifest."""
    storage = yaml.safe_load(lay(PLAIN).text("kind/manifests/default-storage.yaml"))
    marks = storage["metadata"]["annotations"]
    assert marks == {"storageclass.kubernetes.io/is-default-class": "true"}


def test_network_template_becomes_json() -> None:
    """Containerd fills in ranges and routes; what is left is a list of plugins."""
    lines = node_file("cni.conflist").splitlines()
    filled = "\n".join(line.partition("{{range")[0] + "]," * ("{{range" in line) for line in lines)
    parsed = json.loads(filled.replace("],\n      }", "]\n      }"))
    assert [each["type"] for each in parsed["plugins"]] == ["ptp", "portmap"]
    assert parsed["plugins"][0]["ipMasq"] is False


def test_other_kind_is_refused(lay: Lay, tmp_path: Path) -> None:
    """A place that is to be changed and is not there is an error."""
    config = tmp_path / "kind/images/base/files/etc/containerd/config.toml"
    config.write_text('sandbox_image = "registry.k8s.io/pause:3.11"\n')
    with pytest.raises(CheckFailed, match=r"kind v0\.33\.0 is not as the node image") as raised:
        lay(PLAIN)
    assert raised.value.seen == (
        'it does not contain: sandbox_image = "registry.k8s.io/pause:3.10"'
    )


def test_kind_of_host_is_an_input() -> None:
    """A layer for one kind of host is another layer."""
    compiler = Compiler(lambda: Go(Path("go"), "1"))
    need = programs.pause_part(compiler)
    parts = [system.system_part(compiler, each, need, need, need) for each in (PLAIN, POOR)]
    assert parts[0].key != parts[1].key
