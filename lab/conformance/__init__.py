"""The contract of a device plugin, tried on somebody's own with a kubelet in this process."""
