"""One run of the kubelet, from its start to its end: what it knows and whom it listens to."""

import contextlib
import logging
import stat
import threading
from collections.abc import Iterable
from typing import Final

from fake_plugin.api.deviceplugin_pb2_grpc import add_RegistrationServicer_to_server
from fake_plugin.api.podresources_pb2_grpc import add_PodResourcesListerServicer_to_server
from lab.core.errors import NotReady
from lab.embedded.kubelet.admission import Admission
from lab.embedded.kubelet.allocation import Allocation
from lab.embedded.kubelet.checkpoint import (
    NAME,
    CheckpointDamaged,
    read_checkpoint,
    write_checkpoint,
)
from lab.embedded.kubelet.client import PluginClient
from lab.embedded.kubelet.container_start import ContainerStart
from lab.embedded.kubelet.containers import ContainerRecord, Snapshot
from lab.embedded.kubelet.go_text import quoted
from lab.embedded.kubelet.ledger import Ledger
from lab.embedded.kubelet.node import Node
from lab.embedded.kubelet.pod_resources import PodResourcesService
from lab.embedded.kubelet.registration import Registration
from lab.embedded.kubelet.selection import AllocationError
from lab.embedded.kubelet.sockets import SocketServer, make_folder

_log: Final = logging.getLogger(__name__)


class Run:
    """Starts when it is made; `end` is a kill. Raises `NotReady` where it cannot listen."""

    def __init__(
        self,
        node: Node,
        registrations: list[PluginClient],
        containers: Iterable[ContainerRecord],
    ) -> None:
        """Take `containers` for what the runtime has of them; add to `registrations`."""
        self.ended = threading.Event()
        #: Whether the kubelet has heard of all its pods; until then none is taken for over.
        self.knows_all_pods = False
        self._node = node
        self._saving = threading.Lock()
        self._snapshot = Snapshot(containers, node.rng)
        self.ledger = Ledger(node, self._try_to_save)
        self._allocation = Allocation(
            self.ledger, node.rng, self._free, self._ran_before, self._save
        )
        self.admission = Admission(node, self.ledger, self._allocation)
        self.container_start = ContainerStart(self.ledger, self.admission, node.roster, node.rng)
        self._registration = Registration(node, self.ledger, registrations)
        self._prepare_folder()
        self._servers: list[SocketServer] = []
        try:
            self._servers.extend(self._listen())
        except NotReady:
            self.end()
            raise

    def end(self) -> None:
        """End as a killed process does: every connection breaks, and nothing is tidied up."""
        if self.ended.is_set():
            return
        self.ended.set()
        for server in self._servers:
            server.stop()
        if self._node.misbehaviour.released:
            self._node.misbehaviour.released.set()
        self._registration.close()
        for server in self._servers:
            server.wait()

    def _prepare_folder(self) -> None:
        folder = self._node.folder
        make_folder(folder)
        if self._node.settings.deprecation_file:
            (folder / "DEPRECATION").touch()
        try:
            self.ledger.restore(*read_checkpoint(folder))
        except CheckpointDamaged as problem:
            _log.error("Continue after failing to read checkpoint file: %s", problem)
        for path in () if self._node.misbehaviour.keeps_sockets else folder.iterdir():
            # A plugin may remove its own meanwhile.
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISSOCK(path.stat().st_mode):
                    path.unlink()

    def _listen(self) -> Iterable[SocketServer]:
        node = self._node
        if folder := node.settings.pod_resources:
            service = PodResourcesService(node.roster, self.ledger, self._allocation, node.clock)
            yield SocketServer(
                folder / "kubelet.sock",
                lambda server: add_PodResourcesListerServicer_to_server(service, server),
            )
        yield SocketServer(
            node.folder / "kubelet.sock",
            lambda server: add_RegistrationServicer_to_server(self._registration, server),
        )

    def _free(self) -> None:
        if self.knows_all_pods:
            self.ledger.free_all_but(pod.uid for pod in self._node.roster.active())

    def _ran_before(self, pod_uid: str, container: str) -> bool:
        every_id = self._node.settings.profile.looks_at_every_container_id
        return not self.knows_all_pods and self._snapshot.was_running(
            pod_uid, container, every_id=every_id
        )

    def _save(self) -> None:
        with self._saving, self.ledger.lock:
            if self.ended.is_set():
                return
            try:
                write_checkpoint(self._node.folder, self.ledger.holdings, self.ledger.healthy)
            except OSError as problem:
                raise AllocationError(
                    f"failed to write checkpoint file {quoted(NAME)}: {problem}"
                ) from problem

    def _try_to_save(self) -> None:
        try:
            self._save()
        except AllocationError as problem:
            _log.error("Writing checkpoint encountered: %s", problem)
