"""How the programs of a node are compiled."""

from pathlib import Path

import pytest

from lab.core.errors import NotReady
from lab.images.compiler import Compiler
from lab.images.node import programs, versions
from lab.images.store import Making, Store
from lab.images.toolchain import LEAST_GO, Go
from tests.unit.images.machine import ImageMachine

GO_MOD = Path(str(programs.SOURCES), "kubernetes", "go.mod").read_text()


@pytest.fixture
def compiler(tmp_path: Path) -> Compiler:
    """Return a compiler with the Go of the machine."""
    return Compiler(lambda: Go(tmp_path / "bin" / "go", "1.26.8"))


def test_kubernetes_knows_its_version(
    making: Making, machine: ImageMachine, compiler: Compiler
) -> None:
    """What `kubelet --version` says is linked in."""
    programs.kubernetes_part(compiler).make(making)
    (call,) = machine.called("go build")
    assert f"version.gitVersion={versions.KUBERNETES}" in call
    assert "version.gitMajor=1 " in call
    assert "version.gitMinor=36 " in call
    assert (making.folder / "kubernetes").exists()
    assert (making.scratch / "routes.go").exists()
    assert (making.scratch / "go.sum").exists()


@pytest.mark.parametrize(
    ("name", "packages"),
    [
        (
            "containerd",
            [
                f"github.com/containerd/containerd/v2/cmd/{each}@{versions.CONTAINERD}"
                for each in ("containerd", "ctr", "containerd-shim-runc-v2")
            ],
        ),
        ("coredns", [f"github.com/coredns/coredns@{versions.COREDNS}"]),
        ("crictl", [f"sigs.k8s.io/cri-tools/cmd/crictl@{versions.CRICTL}"]),
    ],
)
def test_modules_are_installed_by_version(
    store: Store,
    machine: ImageMachine,
    compiler: Compiler,
    name: str,
    packages: list[str],
) -> None:
    """Each program comes from its own module, whose go.mod pins the rest."""
    product = store.get(getattr(programs, f"{name}_part")(compiler))
    (call,) = machine.called("go install")
    assert call.endswith(" ".join(packages))
    assert "-trimpath" in call
    assert len(list(product.iterdir())) == len(packages) + 1


def test_go_runs_without_this_machines_settings(
    making: Making, machine: ImageMachine, compiler: Compiler
) -> None:
    """Nothing of C, of a workspace or of another toolchain gets in."""
    (machine.fakes.parent / "bin" / "go").write_text("#!/bin/sh\n/usr/bin/env >$CALLS\n")
    compiler.run(making, "version")
    seen = dict(line.partition("=")[::2] for line in machine.calls.read_text().splitlines())
    assert seen["CGO_ENABLED"] == "0"
    assert seen["GOTOOLCHAIN"] == "local"
    assert seen["GOWORK"] == "off"
    assert seen["GOTMPDIR"] == str(making.scratch)


def test_failure_keeps_the_words_of_go(
    making: Making, machine: ImageMachine, compiler: Compiler
) -> None:
    """A module proxy that does not answer is told in Go's words."""
    machine.environment.setenv("GO_FAILS", "dial tcp: lookup modules.example: no such host")
    with pytest.raises(
        NotReady, match=r"Go 1\.26\.8 could not do what the build asks of it"
    ) as raised:
        programs.pause_part(compiler).make(making)
    assert raised.value.seen == "dial tcp: lookup modules.example: no such host"
    assert "Go module proxy" in raised.value.remedy


def test_full_disk_is_no_matter_of_proxies(
    store: Store, machine: ImageMachine, compiler: Compiler
) -> None:
    """Go on a full disk is told as a full disk."""
    machine.environment.setenv("GO_FAILS", "link: mapping output failed: no space left on device")
    with pytest.raises(NotReady, match="the disk is full: pause"):
        store.get(programs.pause_part(compiler))


@pytest.mark.parametrize(
    "line",
    [
        f"k8s.io/kubernetes {versions.KUBERNETES}",
        f"k8s.io/kubelet => k8s.io/kubelet {versions.KUBERNETES.replace('v1', 'v0')}",
        f"go.etcd.io/etcd/server/v3 {versions.ETCD}",
        f"go {LEAST_GO}",
    ],
)
def test_go_mod_agrees_with_the_table(line: str) -> None:
    """A version stands in two places only where a test compares them."""
    assert f"{line}\n" in GO_MOD.replace(" // indirect", "")


def test_every_program_is_told_apart() -> None:
    """Each name that is linked to the one binary is a name that it knows."""
    main = Path(str(programs.SOURCES), "kubernetes", "main.go").read_text()
    assert programs.KUBERNETES_PROGRAMS
    for name in programs.KUBERNETES_PROGRAMS:
        assert f'case "{name}":' in main
