"""NVIDIA: cards, MIG devices and replicas as its device plugin offers them.

    hardware   GPUs and MIG devices, as NVML would name them
    offers     which resources they become, by MIG strategy and sharing
    answers    what Allocate returns, by device list strategy

Source: NVIDIA/k8s-device-plugin, internal/rm/device_map.go, internal/rm/devices.go and
internal/plugin/server.go.
"""

from fake_plugin.vendors.nvidia.hardware import card
from fake_plugin.vendors.nvidia.offers import offers

__all__ = ["card", "offers"]
