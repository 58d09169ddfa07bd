"""A Kubernetes cluster in one process, without Docker: so far, the devices of its kubelets."""
