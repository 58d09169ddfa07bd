"""Versions that more than one layer must agree on."""

from typing import Final

#: The kind that the lab is tested with: what is installed where the PATH has none as new, and whose
#: base files go into a node image of our own.
KIND: Final = "v0.33.0"
#: kind's Go module at that version: what Go is asked to install, or to fetch the sources of.
KIND_MODULE: Final = f"sigs.k8s.io/kind@{KIND}"
#: What that kind takes where no image is named (its pkg/apis/config/defaults/image.go).
KIND_NODE_IMAGE: Final = (
    "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5"
)
