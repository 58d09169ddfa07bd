"""The versions that a node image is made of: the one place where they are written."""

from typing import Final

#: Also in go/kubernetes/go.mod, which pins everything that Kubernetes itself needs.
KUBERNETES: Final = "v1.36.3"
#: The etcd that this Kubernetes asks for; also in go/kubernetes/go.mod.
ETCD: Final = "v3.6.8"
#: The CoreDNS that this kubeadm deploys: `kubeadm config images list`.
COREDNS: Final = "v1.14.2"
CONTAINERD: Final = "v2.3.6"
CRICTL: Final = "v1.36.0"
#: The tag under which containerd looks for our own pause: kind's containerd configuration.
PAUSE_TAG: Final = "3.10"
#: The Busybox image that examples ask for; inside is Debian's.
BUSYBOX_TAG: Final = "1.36"
