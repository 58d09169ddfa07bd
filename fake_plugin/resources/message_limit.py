"""How large a message of a plugin may be.

Source: the kubelet dials without a limit of its own (Kubernetes, pkg/kubelet/cm/devicemanager),
so that of gRPC for Go holds (clientconn.go, defaultClientMaxReceiveMessageSize). The lab asks here
as well, to refuse a pool that no plugin could announce.
"""

from typing import Final

#: In bytes.
MESSAGE_LIMIT: Final = 4 * 1024 * 1024
#: Of plain devices, all in one ListAndWatch message. One is 56 bytes of it: an ID of 41 characters,
#: "Unhealthy", their framing. Of others fewer fit, which `fake_plugin.resources.list_size` counts.
MOST_DEVICES: Final = MESSAGE_LIMIT // 56
