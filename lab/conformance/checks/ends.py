"""How a plugin ends, and how it starts after an end."""

from lab.conformance.check import Failed, NotApplicable, check
from lab.conformance.checks.listing import difference
from lab.conformance.trial import Trial


@check(
    "sigterm",
    "ends at SIGTERM",
    why="A pod that does not end is killed after its time of grace, 30 seconds. A rolling update "
    "waits as long on every node, and for that time there are no devices.",
    source="https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination",
    needs=("registers",),
)
def sigterm(trial: Trial) -> str:
    """Send SIGTERM, and wait for the end."""
    trial.registered()
    began = trial.clock.now()
    if trial.process:
        trial.process.terminate()
    trial.wait(lambda: False, trial.limits.end)
    if trial.process and not trial.process.has_ended:
        raise Failed(f"it still ran after {trial.limits.end:g} s")
    end = trial.process.end if trial.process else ""
    return f"{end} after {trial.clock.now() - began:.1f} s"


@check(
    "socket-gone",
    "removes its socket at its end",
    why="A socket on which nobody listens stays until the kubelet restarts. With names that are "
    "new at each start the folder fills; with one name the next start has to remove it.",
    source="manager.go: CleanupPluginDirectory",
    needs=("endpoint", "sigterm"),
)
def socket_gone(trial: Trial) -> str:
    """Look for the socket of the plugin that was ended."""
    client = trial.accepted()
    if client and client.path.exists():
        raise Failed(f"{client.path.name} is still there")
    return "it is gone"


@check(
    "restart-after-kill",
    "starts again after it was killed",
    why="A killed plugin leaves its socket. One that does not remove it before it listens fails "
    "with address already in use, at every start.",
    source="k8snetworkplumbingwg/sriov-network-device-plugin#565; kubernetes/kubernetes#63231",
    needs=("registers",),
)
def restart_after_kill(trial: Trial) -> str:
    """Kill the plugin, start it, and wait for it to be registered."""
    trial.registered()
    trial.start_plugin()
    began = trial.clock.now()
    if not trial.wait(trial.accepted, trial.limits.register):
        raise Failed(trial.why_not_accepted())
    return f"after {trial.clock.now() - began:.1f} s"


@check(
    "ids-stable",
    "has the same IDs after a restart",
    why="The kubelet remembers by ID which pod holds what. With new IDs all devices are free, and "
    "are given away a second time; pods that are restarted ask for devices that are gone.",
    source="manager.go: readCheckpoint; checkpoint/checkpoint.go",
    needs=("restart-after-kill", "first-list", "ids"),
)
def ids_stable(trial: Trial) -> str:
    """Compare the first list of all with that of the plugin which was started again."""
    first = {each.ID for each in trial.first_list()}
    if not first:
        raise NotApplicable("it listed no devices before")

    def now() -> set[str]:
        return {each.ID for each in trial.devices()}

    if not trial.wait(lambda: now() == first, trial.limits.first_list):
        raise Failed(difference(first, now()))
    return f"{len(first)} IDs"
