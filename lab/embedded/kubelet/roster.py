"""Which pods are on the node and not over: what the kubelet calls its active pods."""

import threading

from lab.embedded.kubelet.pod import Pod


class Roster:
    """Safe to use from several threads. It outlives a restart of the kubelet, as pods do."""

    def __init__(self) -> None:
        self._pods: dict[str, Pod] = {}
        self._lock = threading.Lock()

    def add(self, pod: Pod) -> None:
        """Count a pod in, before its admission is decided."""
        with self._lock:
            self._pods[pod.uid] = pod

    def remove(self, uid: str) -> None:
        """Count a pod out: its containers are stopped, or it was rejected."""
        with self._lock:
            self._pods.pop(uid, None)

    def active(self) -> tuple[Pod, ...]:
        """Return the pods, the oldest first."""
        with self._lock:
            return tuple(self._pods.values())

    def find(self, namespace: str, name: str) -> Pod | None:
        """Return the pod of that name, or None."""
        found = [pod for pod in self.active() if (pod.namespace, pod.name) == (namespace, name)]
        return found[0] if found else None
