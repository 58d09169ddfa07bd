"""The images that every node holds from the start, inside containerd's own store.

All programs of Kubernetes, etcd and CoreDNS share two layers, so a node stores and unpacks them
once. Nothing is pulled when a cluster is made, and nothing that is in here ever is.
"""

import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from lab.images.archive import ImageContent, write_archive
from lab.images.debian import Packages, debian_part, layer_in
from lab.images.layer import Layer, new_layer
from lab.images.node import versions
from lab.images.node.files import node_file
from lab.images.node.programs import KUBERNETES_PROGRAMS
from lab.images.store import Making, Part

#: The image of the pods that keep the routes between nodes.
ROUTES_IMAGE: Final = f"localhost/gpu-lab/node-routes:{versions.KUBERNETES}"
_REGISTRY: Final = "registry.k8s.io"
_STORE: Final = "var/lib/containerd"
#: What containerd keeps images in; its other plugins make their folders when they start.
_KEPT: Final = ("io.containerd.content.v1.content", "io.containerd.metadata.v1.bolt")
_NFT: Final = tuple(
    f"{family}{verb}" for family in ("iptables", "ip6tables") for verb in ("", "-restore", "-save")
)


def tools_part() -> Part:
    """Return the part with the programs that the programs of Kubernetes call."""
    packages = Packages("extract", ("busybox-static", "iptables", "kmod", "nftables"))
    return debian_part("tools", "Unpack the tools for Kubernetes' images", packages)


def preloaded_part(
    kubernetes: Part, containerd: Part, coredns: Part, pause: Part, tools: Part
) -> Part:
    """Return the part whose product holds a layer with a containerd store full of images."""

    def make(making: Making) -> None:
        programs = _programs_layer(making, kubernetes, coredns)
        below = layer_in(making.path(tools))
        archive = making.scratch / "images.tar"
        alone = _pause_layer(making, pause)
        applets = _busybox_layer(making, below)
        write_archive(
            archive,
            [
                *_kubernetes_images((below, programs)),
                ImageContent((f"{_REGISTRY}/pause:{versions.PAUSE_TAG}",), (alone,), ("/pause",)),
                ImageContent((_busybox(),), (applets,), ("/bin/sh",)),
            ],
        )
        store = making.scratch / "store"
        _import(making, making.path(containerd), archive, store)
        with new_layer(making.folder / "layer.tar") as layer:
            for each in _KEPT:
                layer.tree(f"{_STORE}/{each}", store / each)

    return Part(
        name="preloaded",
        title="Put Kubernetes' images into a containerd store",
        version=versions.KUBERNETES,
        inputs=(Path(__file__).read_text(), node_file("preload.sh")),
        make=make,
        needs=(kubernetes, containerd, coredns, pause, tools),
    )


def _busybox() -> str:
    return f"docker.io/library/busybox:{versions.BUSYBOX_TAG}"


def _kubernetes_images(layers: tuple[Layer, ...]) -> list[ImageContent]:
    names = [
        *(
            f"{_REGISTRY}/{each}:{versions.KUBERNETES}"
            for each in KUBERNETES_PROGRAMS
            if each.startswith("kube-")
        ),
        f"{_REGISTRY}/etcd:{versions.ETCD.removeprefix('v')}-0",
        ROUTES_IMAGE,
    ]
    coredns = f"{_REGISTRY}/coredns/coredns:{versions.COREDNS}"
    return [ImageContent(tuple(names), layers), ImageContent((coredns,), layers, ("/coredns",))]


def _programs_layer(making: Making, kubernetes: Part, coredns: Part) -> Layer:
    tar = making.scratch / "programs.tar"
    with new_layer(tar) as layer:
        layer.file("usr/local/bin/kubernetes", making.path(kubernetes) / "kubernetes", 0o755)
        for each in KUBERNETES_PROGRAMS:
            layer.link(f"usr/local/bin/{each}", "kubernetes")
        layer.file("coredns", making.path(coredns) / "coredns", 0o755)
        layer.link("bin/sh", "busybox")
        # A package's own choice between nft and legacy is made when it is installed, and these
        # are only unpacked.
        for each in _NFT:
            layer.link(f"usr/sbin/{each}", "xtables-nft-multi")
    return Layer.of(tar)


def _pause_layer(making: Making, pause: Part) -> Layer:
    tar = making.scratch / "pause.tar"
    with new_layer(tar) as layer:
        layer.file("pause", making.path(pause) / "pause", 0o755)
    return Layer.of(tar)


def _busybox_layer(making: Making, tools: Layer) -> Layer:
    program = making.scratch / "busybox"
    with tarfile.open(tools.tar) as unpacked, program.open("wb") as file:
        found = unpacked.extractfile("./bin/busybox")
        if found is None:
            raise FileNotFoundError("bin/busybox")
        shutil.copyfileobj(found, file)
    program.chmod(0o755)
    applets = making.processes.run((program, "--list")).stdout.split()
    tar = making.scratch / "busybox.tar"
    with new_layer(tar) as layer:
        layer.file("bin/busybox", program, 0o755)
        for each in applets:
            if each != "busybox":
                layer.link(f"bin/{each}", "busybox")
        layer.folder("tmp", 0o1777)
        layer.folder("root", 0o700)
        layer.text("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
        layer.text("etc/group", "root:x:0:\n")
    return Layer.of(tar)


def _import(making: Making, programs: Path, archive: Path, store: Path) -> None:
    script = making.scratch / "preload.sh"
    script.write_text(node_file("preload.sh"))
    store.mkdir()
    # The path of a socket ends at 107 characters, and the cache folder can be longer than that.
    with tempfile.TemporaryDirectory(prefix="gpulab-") as short:
        making.processes.run(("sh", "-eu", script, programs, archive, store, short))
