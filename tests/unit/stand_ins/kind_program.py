"""A `kind` that makes its nodes in the engine of `docker_program`. Run as a program.

It makes what the configuration asks for, reports as kind does, and writes a kubeconfig for the
server named by FAKE_API. FAKE_KIND=fails makes it end after its first node, as kind does with a
node that does not boot; FAKE_KIND=slow takes a second before it makes any, as a pull would;
FAKE_KIND=hangs makes none, for a minute.
"""

import fcntl
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

VERSION = "kind v0.33.0 go1.26.0 linux/amd64"


def main(arguments: list[str]) -> int:
    """Answer `kind version` and `kind create cluster`."""
    if arguments == ["version"]:
        sys.stdout.write(f"{VERSION}\n")
        return 0
    options = dict(zip(arguments[2::2], arguments[3::2], strict=True))
    config = yaml.safe_load(Path(options["--config"]).read_text(encoding="utf-8"))
    sys.stderr.write(f" ✓ Ensuring node image ({options['--image']}) 🖼\n")
    nodes = [_container(options["--name"], *each) for each in _named(config["nodes"])]
    time.sleep({"slow": 1, "hangs": 60}.get(os.environ.get("FAKE_KIND", ""), 0))
    if os.environ.get("FAKE_KIND") == "fails":
        _add(nodes[:1])
        sys.stderr.write("ERROR: failed to create cluster: node did not boot\n")
        return 1
    _add(nodes)
    write_kubeconfig(Path(options["--kubeconfig"]), os.environ.get("FAKE_API", ""))
    return 0


def _named(nodes: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    seen: Counter[str] = Counter()
    named = []
    for node in nodes:
        seen[node["role"]] += 1
        number = seen[node["role"]]
        named.append((node["role"] + (str(number) if number > 1 else ""), node))
    return named


def _container(cluster: str, suffix: str, node: dict[str, Any]) -> dict[str, Any]:
    labels = {"io.x-k8s.kind.cluster": cluster, "io.x-k8s.kind.role": node["role"]}
    mounts = [
        {"Source": each["hostPath"], "Destination": each["containerPath"]}
        for each in node.get("extraMounts", ())
    ]
    return {
        "Id": f"id-{cluster}-{suffix}",
        "Name": f"/{cluster}-{suffix}",
        "State": {"Running": True},
        "Config": {"Labels": labels},
        "Mounts": mounts,
    }


def _add(containers: list[dict[str, Any]]) -> None:
    with Path(os.environ["FAKE_ENGINE"]).open("r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        state = json.load(file)
        state["containers"] += containers
        file.seek(0)
        json.dump(state, file)
        file.truncate()


def write_kubeconfig(path: Path, server: str) -> None:
    """Write a kubeconfig for this server, without credentials."""
    context = {"cluster": "kind", "user": "kind"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "kind",
        "contexts": [{"name": "kind", "context": context}],
        "clusters": [{"name": "kind", "cluster": {"server": server}}],
        "users": [{"name": "kind", "user": {}}],
    }
    path.write_text(yaml.safe_dump(config), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
