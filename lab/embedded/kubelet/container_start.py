"""What happens with devices each time a container starts, restarts included.

Source: devicemanager/manager.go:GetDeviceRunContainerOptions. No device is allocated anew and no
health is looked at: a container that restarts keeps what it has, be it broken.
"""

import random

from lab.embedded.kubelet.admission import Admission
from lab.embedded.kubelet.connection import PluginError
from lab.embedded.kubelet.ledger import Ledger
from lab.embedded.kubelet.pod import Container, Pod
from lab.embedded.kubelet.roster import Roster
from lab.embedded.kubelet.run_options import RunOptions, run_options
from lab.embedded.kubelet.selection import AllocationError, shuffled


class ContainerConfigError(Exception):
    """The container waits with the reason CreateContainerConfigError and this text, and is retried.

    An event of type Warning and reason Failed has "Error: " before the text.
    """


class ContainerStart:
    """Announces containers to their plugins, and puts together what these have answered."""

    def __init__(
        self, ledger: Ledger, admission: Admission, roster: Roster, rng: random.Random
    ) -> None:
        self._ledger = ledger
        self._admission = admission
        self._roster = roster
        self._rng = rng

    def options(self, pod: Pod, container: Container) -> RunOptions:
        """Return what the container starts with; raise `ContainerConfigError`."""
        served = [
            resource
            for resource, count in container.limits.items()
            if count and self._ledger.serves(resource)
        ]
        for resource in shuffled(served, self._rng):
            self._announce(pod.uid, container.name, resource)
        if self._lacks(pod, container, served):
            try:
                self._admission.allocate(pod, container)
            except AllocationError as problem:
                raise ContainerConfigError(str(problem)) from problem
        with self._ledger.lock:
            return run_options(self._ledger.holdings.of(pod.uid, container.name), self._rng)

    def _lacks(self, pod: Pod, container: Container, resources: list[str]) -> bool:
        """Tell whether a pod that is not over was given nothing: a race after a restart."""
        held = self._ledger.holdings.of(pod.uid, container.name)
        return pod in self._roster.active() and any(each not in held for each in resources)

    def _announce(self, pod_uid: str, container: str, resource: str) -> None:
        endpoint = self._ledger.endpoints.get(resource)
        if endpoint is None:
            raise ContainerConfigError(
                f"endpoint not found in cache for a registered resource: {resource}"
            )
        if not endpoint.options.pre_start_required:
            return
        devices = self._ledger.holdings.ids(pod_uid, container, resource)
        if devices is None:
            raise ContainerConfigError(
                f"no devices found allocated in local cache for pod {pod_uid}, "
                f"container {container}, resource {resource}"
            )
        try:
            endpoint.pre_start(shuffled(devices, self._rng))
        except PluginError as problem:
            raise ContainerConfigError(
                f"device plugin PreStartContainer rpc failed with err: {problem}"
            ) from problem
