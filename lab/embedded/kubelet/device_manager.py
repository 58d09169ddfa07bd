"""The kubelet's device manager, in process: real plugins over real sockets, and no cluster.

It answers a device plugin as a kubelet of the version in its profile does, the known faults of that
version included, and gives devices to pods at admission as that does: order, texts, files, times.
What is not here: the API server's side of a pod, predicates other than on resources, claims, the
scope `pod` of the topology manager, and plugins that are found in `plugins_registry`, which a
kubelet watches as well.

Source: Kubernetes' pkg/kubelet/cm/devicemanager; the modules beside this one name its files.
"""

import logging
import queue
import random
import threading
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

from lab.embedded.clock import Clock, RealClock, Timer
from lab.embedded.kubelet.client import PluginClient
from lab.embedded.kubelet.containers import ContainerRecord
from lab.embedded.kubelet.device import HEALTHY, Device
from lab.embedded.kubelet.journal import Journal
from lab.embedded.kubelet.ledger import Figures, KubeletCrash
from lab.embedded.kubelet.misbehaviour import Misbehaviour
from lab.embedded.kubelet.node import Node, Settings
from lab.embedded.kubelet.node_status import NodeStatus
from lab.embedded.kubelet.pod import Container, Kind, Pod
from lab.embedded.kubelet.rejection import Rejection
from lab.embedded.kubelet.roster import Roster
from lab.embedded.kubelet.run import Run
from lab.embedded.kubelet.run_options import RunOptions
from lab.embedded.profile import Profile

#: How much later an update of the node's status may be, as a part of the time between two.
_JITTER: Final = 0.04
#: As the kubelet's channel; what comes when it is full is lost.
_MOST_UPDATES: Final = 100
_UNHEALTHY: Final = "Unhealthy"
_log: Final = logging.getLogger(__name__)


class KubeletStopped(Exception):
    """There is no kubelet to do that, or it has ended meanwhile; the pod is as it was before."""


class DeviceManager:
    """The device manager of one node, over any number of runs of its kubelet.

    `known` is what it knows now, `status` what the node says since the last tick. `journal` has
    every call, `registrations` every plugin that was accepted, `updates` the pods whose devices
    have become better or worse. Pods are admitted one at a time: a plugin that hangs holds up all.
    """

    def __init__(
        self, folder: Path, settings: Settings | None = None, clock: Clock | None = None
    ) -> None:
        """Have no kubelet yet; `folder` is for the sockets of plugins."""
        self.clock = clock or RealClock()
        self.journal = Journal(self.clock)
        self.misbehaviour = Misbehaviour()
        self.registrations = list[PluginClient]()
        self.roster = Roster()
        self.status = NodeStatus()
        self.updates: queue.Queue[frozenset[str]] = queue.Queue(_MOST_UPDATES)
        settings = settings or Settings()
        self._node = Node(
            folder=folder,
            settings=settings,
            clock=self.clock,
            rng=random.Random(settings.seed),  # noqa: S311 - it is to be repeated, not secret
            roster=self.roster,
            journal=self.journal,
            misbehaviour=self.misbehaviour,
            tell=self._tell,
        )
        self._turn = threading.Lock()
        self._run: Run | None = None
        self._timer: Timer | None = None

    @property
    def folder(self) -> Path:
        """Return the folder of the plugins' sockets."""
        return self._node.folder

    @property
    def profile(self) -> Profile:
        """Return the version that this kubelet is of."""
        return self._node.settings.profile

    @property
    def socket(self) -> Path:
        """Return where plugins register."""
        return self.folder / "kubelet.sock"

    @property
    def known(self) -> Figures:
        """Return the devices as they are known now, without what only a tick does."""
        run = self._run
        return run.ledger.figures() if run else Figures()

    def start(self, containers: Iterable[ContainerRecord] = ()) -> dict[str, Rejection]:
        """Start a kubelet; all pods of the roster are admitted again, by their age.

        `containers` are what the runtime has of them. Returns why pods were rejected, by UID.
        Raises `NotReady` where it cannot listen.
        """
        self._run = run = Run(self._node, self.registrations, containers)
        self._tick_and_go_on(run)
        rejections = {}
        for pod in self.roster.active():
            if rejection := self.admit(pod):
                rejections[pod.uid] = rejection
        run.knows_all_pods = True
        return rejections

    def stop(self) -> None:
        """Kill the kubelet; plugins and containers go on."""
        run, self._run = self._run, None
        if self._timer:
            self._timer.cancel()
        if run:
            run.end()

    def restart(self, containers: Iterable[ContainerRecord] = ()) -> dict[str, Rejection]:
        """Stop and start."""
        self.stop()
        return self.start(containers)

    def tick(self) -> None:
        """Update the status of the node now."""
        run = self._run
        if run:
            self.status.update(run.ledger.report())

    def admit(self, pod: Pod) -> Rejection | None:
        """Decide whether a pod may run here, and give it its devices; it waits for its turn.

        A pod that is rejected is over. Raises `KubeletStopped`, also where the kubelet ends before
        it has decided, and `KubeletCrash` where it ends because of this pod.
        """
        with self._turn:
            run = self._running()
            self.roster.add(pod)
            others = [each for each in self.roster.active() if each.uid != pod.uid]
            try:
                rejection = run.admission.admit(pod, others, self.status.allocatable)
            except KubeletCrash:
                self.stop()
                raise
            if run.ended.is_set():
                raise KubeletStopped("the kubelet ended before it admitted the pod")
            if rejection:
                self.roster.remove(pod.uid)
            return rejection

    def remove(self, pod_uid: str) -> None:
        """Let a pod be over; its devices are taken from it when the kubelet next looks."""
        self.roster.remove(pod_uid)

    def start_container(self, pod: Pod, container: Container) -> RunOptions:
        """Return what a container starts with, or starts again with.

        Raises `ContainerConfigError` and `KubeletStopped`.
        """
        return self._running().container_start.options(pod, container)

    def devices(self, pod_uid: str, container: str) -> dict[str, frozenset[str]]:
        """Return what a container holds, by resource; also of a pod that is over but not seen so.

        Raises `KubeletStopped`.
        """
        ledger = self._running().ledger
        with ledger.lock:
            held = ledger.holdings.of(pod_uid, container)
            return {resource: holding.ids for resource, holding in held.items()}

    def device_health(self, pod: Pod) -> dict[str, dict[str, dict[str, str]]]:
        """Return the health in the status of a pod: by app container, resource and device ID.

        A device that is not listed any more is shown as healthy, and so are those of a plugin that
        is gone. Up to 1.35 the status has nothing of it.
        """
        if not self.profile.shows_device_health:
            return {}
        ledger = self._running().ledger
        with ledger.lock:
            return {
                container.name: {
                    resource: {
                        each: self._health(ledger.devices.get(resource, {}).get(each))
                        for each in holding.ids
                    }
                    for resource, holding in ledger.holdings.of(pod.uid, container.name).items()
                }
                for container in pod.of_kinds(Kind.APP)
            }

    def _running(self) -> Run:
        if self._run is None:
            raise KubeletStopped("the kubelet does not run")
        return self._run

    def _health(self, device: Device | None) -> str:
        return HEALTHY if device is None or device.is_healthy else _UNHEALTHY

    def _tell(self, pods: Collection[str]) -> None:
        try:
            self.updates.put_nowait(frozenset(pods))
        except queue.Full:
            _log.error("device update channel is full, discard pods info: %s", sorted(pods))

    def _tick_and_go_on(self, run: Run) -> None:
        if run is not self._run:
            return
        self.tick()
        seconds = self._node.settings.tick_seconds * (1 + _JITTER * self._node.rng.random())
        self._timer = self.clock.call_later(seconds, lambda: self._tick_and_go_on(run))
