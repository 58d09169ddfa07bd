"""The programs of a node, compiled from their Go modules.

Kubernetes and etcd are one program of our own that imports theirs (its go.mod and go.sum pin
every module); the others are installed by module and version, and their own go.mod pins theirs.
"""

from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from lab.images.compiler import Compiler, linked, module_part
from lab.images.node import versions
from lab.images.store import Making, Part

#: The programs that the one Kubernetes binary stands for, told apart by name.
KUBERNETES_PROGRAMS: Final = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubeadm",
    "kubectl",
    "kubelet",
    "node-routes",
)
#: Our own Go sources, a folder per program.
SOURCES: Final = files("lab.images.node") / "go"


def kubernetes_part(compiler: Compiler) -> Part:
    """Return the part that compiles Kubernetes, etcd and our keeper of routes into one program."""
    prefix = "k8s.io/component-base/version"
    major, minor, _ = versions.KUBERNETES.removeprefix("v").split(".")
    facts = {
        "gitVersion": versions.KUBERNETES,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
    }
    flags = " ".join(f"-X {prefix}.{name}={value}" for name, value in facts.items())
    return _own_part(compiler, "kubernetes", versions.KUBERNETES, flags)


def pause_part(compiler: Compiler) -> Part:
    """Return the part that compiles the process which holds a pod's namespaces."""
    return _own_part(compiler, "pause", versions.PAUSE_TAG)


def containerd_part(compiler: Compiler) -> Part:
    """Return the part that compiles containerd, its client and its shim."""
    module = "github.com/containerd/containerd/v2"
    return module_part(
        compiler,
        "containerd",
        versions.CONTAINERD,
        [f"{module}/cmd/{each}" for each in ("containerd", "ctr", "containerd-shim-runc-v2")],
        "-tags=no_btrfs,no_devmapper,no_zfs,no_aufs",
        linked(f"-X {module}/version.Version={versions.CONTAINERD}"),
    )


def crictl_part(compiler: Compiler) -> Part:
    """Return the part that compiles the client of the container runtime interface."""
    packages = ["sigs.k8s.io/cri-tools/cmd/crictl"]
    return module_part(compiler, "crictl", versions.CRICTL, packages, linked())


def coredns_part(compiler: Compiler) -> Part:
    """Return the part that compiles the cluster's name server."""
    packages = ["github.com/coredns/coredns"]
    return module_part(compiler, "coredns", versions.COREDNS, packages, linked())


def _own_part(compiler: Compiler, name: str, version: str, flags: str = "") -> Part:
    sources = {each.name: each.read_text() for each in _sorted((SOURCES / name).iterdir())}
    command = ("build", "-v", "-trimpath", linked(flags), "-o")

    def make(making: Making) -> None:
        for file, text in sources.items():
            (making.scratch / file).write_text(text)
        compiler.run(making, *command, str(making.folder / name), ".")

    inputs = (*command, *(text for pair in sources.items() for text in pair))
    title = f"Compile {name} {version}"
    return Part(name=name, title=title, version=version, inputs=inputs, make=make)


def _sorted(found: Iterable[Traversable]) -> list[Traversable]:
    return sorted((each for each in found if each.is_file()), key=lambda each: each.name)
