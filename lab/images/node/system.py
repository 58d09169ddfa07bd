"""What makes a Debian system a kind node: kind's own files, our configuration, the programs.

kind's files (start script, systemd units, containerd configuration) are read from the sources of
its Go module, and changed here in the few places that a comment explains. A place that is not
found again in a newer kind is an error and never passed over.
"""

import json
from pathlib import Path
from typing import Final

from lab.core import pins
from lab.core.errors import CheckFailed
from lab.images.compiler import Compiler
from lab.images.debian import Packages, debian_part
from lab.images.layer import LayerWriter, new_layer
from lab.images.node import versions
from lab.images.node.adaptation import Adaptations
from lab.images.node.files import node_file
from lab.images.node.preloaded import ROUTES_IMAGE
from lab.images.store import RECORD, Making, Part

_BASE: Final = ("images", "base", "files")
_CONTAINERD: Final = "etc/containerd/config.toml"
_CONTAINERD_UNIT: Final = "etc/systemd/system/containerd.service"
_KUBELET_FLAGS: Final = "etc/default/kubelet"
_DROP_INS: Final = "etc/kubernetes/kubelet.conf.d"
_UNITS: Final = ("containerd", "kubelet", "undo-mount-hacks")
#: These are built into kind's own image by its scripts and of no use once it is built.
_LEFT_OUT: Final = ("usr/local/bin/clean-install",)
_CNI_PLUGINS: Final = ("host-local", "loopback", "portmap", "ptp")
_PACKAGES: Final = (
    "ca-certificates",
    "conntrack",
    "containernetworking-plugins",
    "curl",
    "dbus",
    "ethtool",
    "iproute2",
    "iptables",
    "jq",
    "kmod",
    "libseccomp2",
    "mount",
    "nftables",
    "procps",
    "runc",
    "systemd",
    "util-linux",
)
_CNI: Final = """
# The network of pods: an address per pod out of the node's own range. What leads from node to
# node is kept by the pods node-routes.
[plugins."io.containerd.grpc.v1.cri".cni]
  conf_template = "/etc/containerd/cni.conflist"
"""


def root_part() -> Part:
    """Return the part with the Debian system of a node."""
    packages = Packages("essential", _PACKAGES, finish=node_file("clean.sh"))
    return debian_part("node-root", "Unpack and set up the Debian system of a node", packages)


def system_part(
    compiler: Compiler,
    adaptations: Adaptations,
    kubernetes: Part,
    containerd: Part,
    crictl: Part,
) -> Part:
    """Return the part with everything that lies above the Debian system but the images."""

    def make(making: Making) -> None:
        kind_files = _adapted(_read_kind_files(making, compiler), adaptations)
        with new_layer(making.folder / "layer.tar") as layer:
            for name, text in sorted(kind_files.items()):
                layer.text(name, text, 0o755 if "bin" in Path(name).parts else 0o644)
            _add_services(layer)
            _add_own_files(layer, adaptations)
            _add_programs(layer, making, kubernetes, containerd, crictl)
            layer.text("etc/containerd/cri-base.json", _container_base(making, containerd))

    ours = (node_file(each) for each in ("cni.conflist", "default-cni.yaml", "kubelet-host.conf"))
    return Part(
        name="system",
        title="Put the files of a node together",
        version=pins.KIND,
        inputs=(
            Path(__file__).read_text(),
            node_file("default-storage.yaml"),
            *ours,
            *adaptations.names,
        ),
        make=make,
        needs=(kubernetes, containerd, crictl),
    )


def _read_kind_files(making: Making, compiler: Compiler) -> dict[str, str]:
    """Return kind's base image files by the path that they have in a node."""
    downloaded = json.loads(compiler.run(making, "mod", "download", "-json", pins.KIND_MODULE))
    base = Path(downloaded["Dir"], *_BASE)
    names = (each.relative_to(base).as_posix() for each in base.rglob("*") if each.is_file())
    return {name: (base / name).read_text() for name in names if name not in _LEFT_OUT}


def _adapted(kind_files: dict[str, str], adaptations: Adaptations) -> dict[str, str]:
    files = dict(kind_files)
    _expect(files, _CONTAINERD, f'sandbox_image = "registry.k8s.io/pause:{versions.PAUSE_TAG}"')
    files[_CONTAINERD] += _CNI
    if adaptations.cgroup_v1:
        flag = f"--config-dir=/{_DROP_INS}"
        _change(files, _KUBELET_FLAGS, "KUBELET_EXTRA_ARGS=", f"KUBELET_EXTRA_ARGS={flag} ")
    if adaptations.no_sys_resource:
        wanted = "restrict_oom_score_adj = "
        _change(files, _CONTAINERD, f"{wanted}false", f"{wanted}true")
        _expect(files, _CONTAINERD_UNIT, "OOMScoreAdjust=")
        kept = (
            line
            for line in files[_CONTAINERD_UNIT].splitlines()
            # To lower the one and to raise the others takes the capability that is missing.
            if not line.startswith(("OOMScoreAdjust=", "LimitNPROC=", "LimitCORE=", "LimitNOFILE="))
        )
        files[_CONTAINERD_UNIT] = "\n".join(kept) + "\n"
    return files


def _change(files: dict[str, str], name: str, old: str, new: str) -> None:
    _expect(files, name, old)
    files[name] = files[name].replace(old, new)


def _expect(files: dict[str, str], name: str, text: str) -> None:
    if text not in files.get(name, ""):
        raise CheckFailed(
            f"kind {pins.KIND} is not as the node image expects it",
            where=f"{'/'.join(_BASE)}/{name} in the module {pins.KIND_MODULE}",
            seen=f"it does not contain: {text}",
            remedy="this gpu-lab and this kind do not fit together: please report it",
        )


def _add_services(layer: LayerWriter) -> None:
    for each in _UNITS:
        unit = f"{each}.service"
        wanted = f"etc/systemd/system/multi-user.target.wants/{unit}"
        layer.link(wanted, f"/etc/systemd/system/{unit}")
    # It would register interpreters in the kernel, which all containers of the host share.
    layer.link("etc/systemd/system/systemd-binfmt.service", "/dev/null")
    layer.link("usr/sbin/init", "/lib/systemd/systemd")


def _add_own_files(layer: LayerWriter, adaptations: Adaptations) -> None:
    layer.text("kind/version", versions.KUBERNETES)
    manifest = node_file("default-cni.yaml").replace("@IMAGE@", ROUTES_IMAGE)
    layer.text("kind/manifests/default-cni.yaml", manifest)
    layer.text("kind/manifests/default-storage.yaml", node_file("default-storage.yaml"))
    layer.text("etc/containerd/cni.conflist", node_file("cni.conflist"))
    layer.folder("etc/kubernetes/manifests")
    if adaptations.cgroup_v1:
        layer.text(f"{_DROP_INS}/10-host.conf", node_file("kubelet-host.conf"))


def _add_programs(
    layer: LayerWriter, making: Making, kubernetes: Part, containerd: Part, crictl: Part
) -> None:
    layer.file("usr/bin/kubernetes", making.path(kubernetes) / "kubernetes", 0o755)
    for each in ("kubeadm", "kubectl", "kubelet"):
        layer.link(f"usr/bin/{each}", "kubernetes")
    for part in (containerd, crictl):
        for program in sorted(making.path(part).iterdir()):
            if program.name != RECORD:
                layer.file(f"usr/local/bin/{program.name}", program, 0o755)
    layer.link("usr/local/sbin/runc", "/usr/sbin/runc")
    for each in _CNI_PLUGINS:
        layer.link(f"opt/cni/bin/{each}", f"/usr/lib/cni/{each}")


def _container_base(making: Making, containerd: Part) -> str:
    """Return the specification that all containers start from, as kind's own image has it.

    Without limits of its own, a container has those of containerd; the hook lets each container
    see a machine identity of its node and not of the host.
    """
    ctr = making.path(containerd) / "ctr"
    base = json.loads(making.processes.run((ctr, "oci", "spec")).stdout)
    base["process"].pop("rlimits", None)
    hooks = base.setdefault("hooks", {}).setdefault("createContainer", [])
    hooks.append({"path": "/kind/bin/mount-product-files.sh"})
    return json.dumps(base)
