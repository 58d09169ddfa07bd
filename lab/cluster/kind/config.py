"""The kind configuration of a lab: the user's file, plus what the fleet and the lab need.

Added are workers that the fleet asks for and the file lacks, and one read-only mount per node.
The mount is the mark of ownership: it is there from a container's first moment, shows in
`docker inspect` whether the node runs or not, and kind offers no labels of one's own.
"""

from pathlib import Path
from typing import Any, Final

import yaml

from lab.core.errors import UsageError

#: Where the mark is mounted in every node.
OWNER_MOUNT: Final = "/etc/gpu-lab"
_API_VERSION: Final = "kind.x-k8s.io/v1alpha4"

#: What the repository's kind-config.yaml says too (a test compares them): one control plane and
#: one worker, as in the chapter. Kubelets report node status every second instead of every ten,
#: so that what a plugin says is seen at once.
DEFAULT: Final = f"""\
kind: Cluster
apiVersion: {_API_VERSION}
nodes:
- role: control-plane
- role: worker
kubeadmConfigPatches:
- |
  kind: KubeletConfiguration
  nodeStatusUpdateFrequency: 1s
"""

KindConfig = dict[str, Any]


def load(path: Path | None) -> KindConfig:
    """Return the configuration in the file, or the default; raises `UsageError`."""
    if path is None:
        return _checked(yaml.safe_load(DEFAULT), "the default configuration")
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(
            "the kind configuration cannot be read", where=str(path), seen=str(error)
        ) from error
    return _checked(loaded, str(path))


def _checked(loaded: object, where: str) -> KindConfig:
    if not isinstance(loaded, dict) or loaded.get("kind") != "Cluster":
        raise UsageError("a kind configuration begins with `kind: Cluster`", where=where)
    if loaded.get("apiVersion") != _API_VERSION:
        raise UsageError(
            f"the configuration's apiVersion must be {_API_VERSION}",
            where=where,
            seen=str(loaded.get("apiVersion", "there is none")),
        )
    nodes = loaded.get("nodes")
    if nodes in (None, []):
        nodes = [{"role": "control-plane"}]
    if not isinstance(nodes, list) or not all(isinstance(node, dict) for node in nodes):
        rule = "`nodes` must be a list of nodes, each with a role"
        raise UsageError(rule, where=where, seen=str(nodes))
    return {**loaded, "nodes": [_with_mounts(node, where) for node in nodes]}


def _with_mounts(node: KindConfig, where: str) -> KindConfig:
    mounts = node.get("extraMounts") or []
    if not isinstance(mounts, list):
        raise UsageError("`extraMounts` of a node must be a list", where=where, seen=str(mounts))
    return {**node, "extraMounts": mounts}


def workers(config: KindConfig) -> int:
    """Return how many workers the configuration has."""
    return sum(node.get("role") == "worker" for node in config["nodes"])


def for_lab(config: KindConfig, *, wanted_workers: int, owner_mark: Path) -> KindConfig:
    """Return the configuration with the missing workers and the mark of ownership."""
    missing = max(0, wanted_workers - workers(config))
    nodes = [*config["nodes"], *({"role": "worker", "extraMounts": []} for _ in range(missing))]
    mark = {"hostPath": str(owner_mark), "containerPath": OWNER_MOUNT, "readOnly": True}
    marked = [{**node, "extraMounts": [*node["extraMounts"], mark]} for node in nodes]
    return {**config, "nodes": marked}
