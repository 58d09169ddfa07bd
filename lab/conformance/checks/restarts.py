"""What becomes of a plugin when its kubelet restarts or refuses, and when files come and go."""

from typing import Final

from lab.conformance.check import Failed, NotApplicable, check
from lab.conformance.trial import Trial
from lab.core.counted import counted

#: Of Register, while it is refused: a plugin that tries four times a second stays below.
_MOST_TRIES: Final = 20
_REFUSAL: Final = "not now: the conformance test refuses you"


@check(
    "registers-once",
    "registers once",
    why="Each Register opens another stream. From 1.37 on one on a socket that is known already is "
    "refused, and leaves a kubelet that takes that socket no more until it restarts.",
    source="plugin/v1beta1/server.go: connectClient; kubernetes/kubernetes#135437",
    needs=("first-list",),
)
def registers_once(trial: Trial) -> str:
    """Count the calls of Register since the plugin started, and for a while longer."""
    trial.registered()
    trial.wait(lambda: len(trial.registers()) > 1, trial.limits.quiet)
    calls = trial.registers()
    if len(calls) > 1:
        raise Failed(f"{len(calls)} calls of Register, the last one on {calls[-1].socket}")
    return f"on {calls[0].socket}"


@check(
    "unrelated-files",
    "does nothing about files of others",
    why="The kubelet keeps its checkpoint in the folder, and other plugins their sockets: who "
    "takes each of them for a restart of the kubelet registers without end.",
    source="manager.go: writeCheckpoint",
    needs=("registers-once",),
)
def unrelated_files(trial: Trial) -> str:
    """Let a file come into the kubelet's folder, and go again."""
    trial.registered()
    before = len(trial.registers())
    file = trial.kubelet.folder / "unrelated"
    file.touch()
    trial.wait(lambda: len(trial.registers()) > before, trial.limits.quiet)
    file.unlink()
    if len(trial.registers()) > before:
        raise Failed("it registered again because of a file that has nothing to do with it")
    if end := trial.end_of_plugin():
        raise Failed(end)
    return "it stayed as it was"


@check(
    "kubelet-restart",
    "registers again when the kubelet restarts",
    why="A kubelet that starts removes all sockets and has no plugins. A plugin that does not "
    "notice, or registers without listening anew, leaves a node without devices, and its pod looks "
    "well.",
    source="manager.go: CleanupPluginDirectory; NVIDIA/k8s-device-plugin#1228; "
    "kubevirt/kubevirt#17122; bottlerocket-os/bottlerocket#4250",
    needs=("registers",),
)
def kubelet_restart(trial: Trial) -> str:
    """Restart the kubelet under a plugin that has come to rest, and wait for Register and list."""
    trial.registered()
    trial.rest()
    began = trial.clock.now()
    trial.restart_kubelet()
    trial.wait(trial.accepted, trial.limits.register)
    seconds = trial.clock.now() - began
    if end := trial.end_of_plugin():
        raise Failed(end)
    if not trial.accepted():
        raise Failed(trial.why_not_accepted())
    if trial.first_list() and trial.listed() is None:
        raise Failed("it registered, and lists nothing any more")
    return f"after {seconds:.1f} s"


@check(
    "socket-removed",
    "survives the loss of its socket",
    why="Who cleans the folder up takes the sockets of plugins along. The connection that the "
    "kubelet has stays; a plugin that ends, or drops it, loses its devices for nothing.",
    source="manager.go: CleanupPluginDirectory",
    needs=("endpoint", "stream-stays"),
)
def socket_removed(trial: Trial) -> str:
    """Remove the plugin's socket, with the kubelet's own in place."""
    client = trial.registered()
    if client.ended.is_set():
        raise NotApplicable("its stream has ended before")
    before = len(trial.registers())

    def is_back() -> bool:
        return len(trial.registers()) > before or client.path.exists()

    client.path.unlink(missing_ok=True)
    trial.wait(lambda: is_back() or client.ended.is_set(), trial.limits.comes_back)
    if end := trial.end_of_plugin():
        raise Failed(end)
    if client.ended.is_set() and not trial.wait(is_back, trial.limits.register):
        raise Failed("the stream ended, and no Register came")
    if not is_back():
        # The next checks want a plugin that has its socket.
        trial.end_plugin()
        raise NotApplicable(
            "it leaves it at that, and the kubelet, which keeps its connection, never dials again"
        )
    return "it brought it back"


@check(
    "refused",
    "stays calm when the kubelet refuses it",
    why="A plugin that tries again without a pause takes a core of the node and fills the log of "
    "the kubelet; one that ends with 0 says that all is well.",
    source="plugin/v1beta1/server.go: Register",
    needs=("registers",),
)
def refused(trial: Trial) -> str:
    """Start the plugin with a kubelet that refuses every Register, and count the calls."""
    trial.registered()
    trial.kubelet.misbehaviour.refuses = _REFUSAL
    process = trial.start_plugin()
    trial.wait(trial.registers, trial.limits.register)
    trial.wait(lambda: len(trial.registers()) > _MOST_TRIES, trial.limits.refusal)
    tries = len(trial.registers())
    if tries > _MOST_TRIES:
        raise Failed(f"{tries} calls of Register within {trial.limits.refusal:g} s")
    if process.exit_code == 0:
        raise Failed("it ended with exit code 0, as if all were well")
    calls = f"{counted(tries, 'call')} of Register"
    return f"{calls}, then {process.end}" if process.has_ended else calls


@check(
    "recovers",
    "registers as soon as the kubelet takes it",
    why="A plugin that goes on without being registered runs and is ready, and its devices are on "
    "no node until somebody restarts it.",
    source="NVIDIA/k8s-device-plugin#1228",
    needs=("refused",),
)
def recovers(trial: Trial) -> str:
    """End the refusal, and wait for the plugin."""
    if trial.process is None or trial.process.has_ended:
        raise NotApplicable("it had ended, and is to be started anew")
    trial.kubelet.misbehaviour.refuses = ""
    began = trial.clock.now()
    trial.wait(trial.accepted, trial.limits.register)
    if not trial.accepted():
        raise Failed(f"{trial.why_not_accepted()} after the refusal")
    return f"after {trial.clock.now() - began:.1f} s"
