"""The programs of a node, compiled from their Go modules.

Kubernetes and etcd are one program of our own that imports theirs (its go.mod and go.sum pin
every module); the others are installed by module and version, and their own go.mod pins theirs.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from lab.core.errors import NotReady
from lab.host.processes import ProcessFailed
from lab.images.node import versions
from lab.images.node.toolchain import Go
from lab.images.store import Making, Part, ran_out_of_space

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


@dataclass(frozen=True)
class Compiler:
    """Runs Go the same way for every program: nothing of C, nothing of this machine's paths."""

    go: Callable[[], Go]

    def run(self, making: Making, *arguments: str, cwd: Path | None = None) -> str:
        """Run a go command and return what it printed. Raises `NotReady` where it fails."""
        go = self.go()
        environment = {
            "CGO_ENABLED": "0",
            "GOBIN": str(making.folder),
            "GOFLAGS": "-buildvcs=false",
            "GOTMPDIR": str(making.scratch),
            "GOTOOLCHAIN": "local",
            "GOWORK": "off",
        }
        compiled: list[str] = []

        def on_line(line: str) -> None:
            # With -v, Go names each package that it compiles.
            compiled.append(line)
            making.step.update(f"{len(compiled)} packages compiled")

        command = (str(go.program), *arguments)
        where = cwd or making.scratch
        try:
            finished = making.processes.run(command, cwd=where, env=environment, on_line=on_line)
        except ProcessFailed as error:
            if ran_out_of_space(error):
                raise
            raise NotReady(
                f"Go {go.version} could not do its part of the node image",
                where=error.where,
                seen=error.seen,
                remedy="a Go module proxy has to answer (`go env GOPROXY`); what was fetched and "
                "compiled so far is kept",
            ) from error
        return finished.stdout


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
    return _module_part(
        compiler,
        "containerd",
        versions.CONTAINERD,
        [f"{module}/cmd/{each}" for each in ("containerd", "ctr", "containerd-shim-runc-v2")],
        "-tags=no_btrfs,no_devmapper,no_zfs,no_aufs",
        _linked(f"-X {module}/version.Version={versions.CONTAINERD}"),
    )


def crictl_part(compiler: Compiler) -> Part:
    """Return the part that compiles the client of the container runtime interface."""
    packages = ["sigs.k8s.io/cri-tools/cmd/crictl"]
    return _module_part(compiler, "crictl", versions.CRICTL, packages, _linked())


def coredns_part(compiler: Compiler) -> Part:
    """Return the part that compiles the cluster's name server."""
    packages = ["github.com/coredns/coredns"]
    return _module_part(compiler, "coredns", versions.COREDNS, packages, _linked())


def _linked(flags: str = "") -> str:
    # Without symbols: a third less to copy into every node.
    return f"-ldflags=-s -w {flags}".rstrip()


def _own_part(compiler: Compiler, name: str, version: str, flags: str = "") -> Part:
    sources = {each.name: each.read_text() for each in _sorted((SOURCES / name).iterdir())}
    command = ("build", "-v", "-trimpath", _linked(flags), "-o")

    def make(making: Making) -> None:
        for file, text in sources.items():
            (making.scratch / file).write_text(text)
        compiler.run(making, *command, str(making.folder / name), ".")

    inputs = (*command, *(text for pair in sources.items() for text in pair))
    title = f"Compile {name} {version}"
    return Part(name=name, title=title, version=version, inputs=inputs, make=make)


def _module_part(
    compiler: Compiler, name: str, version: str, packages: list[str], *flags: str
) -> Part:
    command = ("install", "-v", "-trimpath", *flags, *(f"{each}@{version}" for each in packages))

    def make(making: Making) -> None:
        compiler.run(making, *command)

    title = f"Compile {name} {version}"
    return Part(name=name, title=title, version=version, inputs=command, make=make)


def _sorted(found: Iterable[Traversable]) -> list[Traversable]:
    return sorted((each for each in found if each.is_file()), key=lambda each: each.name)
