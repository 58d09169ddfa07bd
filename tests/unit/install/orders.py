"""What is ordered of `up` in its tests, and what it goes through."""

from lab.core.fleet import Fleet
from lab.install.order import Order

ORDER = Order("t-lab", Fleet.default(), kind_config=None, node_image="node:v1", timeout=30)
NPU = "npu.example.com/chip"
DAEMON_SET = "/apis/apps/v1/namespaces/kube-system/daemonsets/fake-gpu-device-plugin"
STEPS = [
    "Creating the cluster 't-lab'",
    "Loading the plugin image (0 MB)",
    "Deploying the device plugin",
    "Waiting for the devices to become allocatable",
]
