"""Measures `gpulab up` against bare kind, side by side in one run, and the plugin on the way.

    make bench-up

Both create the same cluster: same kind, same node image, same configuration, one after the other
in turn, because machines are noisy and drift. `kind create cluster --wait` ends when the control
plane is Ready; `gpulab up` ends when the worker's devices are allocatable.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from lab.cli.console import progress_for
from lab.cluster.kind.nodes import load_image
from lab.cluster.kind.program import Kind, find_kind
from lab.cluster.kind.removal import remove
from lab.host.docker import Docker
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.images.node import node_image_reference
from lab.images.plugin import PluginImage, build_plugin_image

ROUNDS = 3
NAME = "bench"
BARE = f"{NAME}-bare"
CONFIG = Path("kind-config.yaml")
GPULAB = (sys.executable, "-m", "lab.cli.main")


@dataclass(frozen=True)
class Figures:
    """What one `gpulab up` showed: seconds, milliseconds to Register, bytes of memory."""

    seconds: float
    registered_ms: float
    memory: int


def timed(*argv: str | os.PathLike[str], env: dict[str, str] | None = None) -> float:
    """Run a program to its end; return the seconds it took."""
    started = time.monotonic()
    subprocess.run(argv, env={**os.environ, **(env or {})}, check=True, capture_output=True)
    return time.monotonic() - started


def bare(kind: Kind, image: str, folder: Path) -> float:
    """Create a cluster with kind alone; return the seconds. The caller removes it."""
    cluster = ("cluster", "--name", BARE, "--kubeconfig", folder / "bare")
    options = ("--image", image, "--config", CONFIG, "--wait", "5m")
    return timed(kind.path, "create", *cluster, *options)


def loading(docker: Docker, plugin: PluginImage) -> float:
    """Load the plugin image into both nodes of the bare cluster; return the seconds."""
    nodes = [each.name for each in docker.cluster_containers(BARE)]
    started = time.monotonic()
    load_image(docker.processes, nodes, plugin.archive, plugin.reference)
    return time.monotonic() - started


def lab(folder: Path) -> Figures:
    """Bring a lab up, look at its plugin, and take it down."""
    env = {"GPULAB_STATE_HOME": str(folder / "state")}
    try:
        seconds = timed(*GPULAB, "up", "--name", NAME, env=env)
        return Figures(seconds, registered_ms(env), memory(f"{NAME}-worker"))
    finally:
        timed(*GPULAB, "down", "--name", NAME, env=env)


def registered_ms(env: dict[str, str]) -> float:
    """Return the milliseconds from the plugin's start to the accepted Register, as it logs them."""
    said = subprocess.run(
        (*GPULAB, "logs", "--name", NAME),
        env={**os.environ, **env},
        check=True,
        capture_output=True,
        text=True,
    )
    lines = (json.loads(line) for line in said.stdout.splitlines())
    return next(float(line["ms_since_start"]) for line in lines if line["event"] == "registered")


def memory(node: str) -> int:
    """Return the working set of the plugin's container in bytes, as the kubelet counts it."""
    stats = subprocess.run(
        ("docker", "exec", node, "crictl", "stats", "-o", "json"),
        check=True,
        capture_output=True,
        text=True,
    )
    for each in json.loads(stats.stdout)["stats"]:
        if each["attributes"]["metadata"]["name"] == "device-plugin":
            return int(each["memory"]["workingSetBytes"]["value"])
    raise SystemExit("crictl knows no container device-plugin")


def main() -> None:
    """Run all rounds and print the figures."""
    processes, folders, progress = Processes(), Folders.of(), progress_for()
    kind = find_kind(processes, folders, progress)
    docker = Docker(processes)
    image = node_image_reference(docker.engine())
    plugin = build_plugin_image(processes, folders, progress)
    labs: list[Figures] = []
    bares: list[float] = []
    loads: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(ROUNDS):
            with progress.step(f"round {turn + 1} of {ROUNDS}: bare kind"):
                try:
                    bares.append(bare(kind, image, Path(folder)))
                    loads.append(loading(docker, plugin))
                finally:
                    remove(docker, docker.cluster_containers(BARE))
            with progress.step(f"round {turn + 1} of {ROUNDS}: gpulab up"):
                labs.append(lab(Path(folder)))
    ours, theirs = [each.seconds for each in labs], bares
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    print(f"bare kind       s   {row(theirs)}")
    print(f"gpulab up       s   {row(ours)}")
    print(f"ratio               {row(ratios)}")
    print(f"fork→Register   ms  {row([each.registered_ms for each in labs])}")
    print(f"plugin memory   MiB {row([each.memory / 2**20 for each in labs])}")
    print(f"plugin image    MB  {plugin.size / 1e6:.1f}")
    print(f"into two nodes  s   {row(loads)}")


def row(values: list[float]) -> str:
    """Return the median and all values."""
    return (
        f"median {statistics.median(values):6.2f}   {'  '.join(f'{each:.2f}' for each in values)}"
    )


if __name__ == "__main__":
    main()
