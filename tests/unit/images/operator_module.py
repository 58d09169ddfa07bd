"""A module of the shape that the operator's has, with little in it."""

from pathlib import Path
from typing import Any, Final

import yaml

CHART: Final = "deployments/gpu-operator"
VALUES: Final[dict[str, Any]] = {
    "platform": {"openshift": False},
    "validator": {"repository": "example.com/cloud", "image": "validator", "env": []},
    "operator": {
        "repository": "example.com",
        "image": "operator",
        "initContainer": {"repository": "example.com", "image": "cuda", "version": "13.0"},
    },
    "driver": {
        "repository": "example.com",
        "image": "driver",
        "version": "580.1",
        "manager": {"repository": "example.com/cloud", "image": "manager", "version": "v0.8"},
    },
    "vgpuManager": {"repository": "", "image": "vgpu-manager", "version": ""},
}


def write_module(folder: Path) -> Path:
    """Write the module, closed to changes as Go keeps modules, and return its folder."""
    nfd = f"{CHART}/charts/node-feature-discovery"
    for name, text in {
        f"{CHART}/Chart.yaml": "appVersion: devel",
        f"{CHART}/values.yaml": yaml.safe_dump(VALUES, sort_keys=False),
        f"{CHART}/crds/policies.yaml": "kind: CustomResourceDefinition",
        f"{nfd}/Chart.yaml": "appVersion: v0.17.3",
        f"{nfd}/values.yaml": "image: {repository: example.com/nfd}",
        f"{nfd}/crds/nfd.yaml": "kind: CustomResourceDefinition",
        "assets/state-driver/0500_daemonset.yaml": "kind: DaemonSet",
        "manifests/state-driver/0500_daemonset.yaml": "kind: DaemonSet",
        "validator/cuda-workload-validation.yaml": "kind: Pod",
        "validator/main.go": "package main",
    }.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o444)
    for each in [each for each in folder.rglob("*") if each.is_dir()]:
        each.chmod(0o555)
    return folder
