"""The calls that a plugin need not offer."""

from collections.abc import Sequence
from typing import Final

from lab.conformance.check import Failed, NotApplicable, check
from lab.conformance.trial import Trial

#: Of devices that are asked for at once.
_MOST: Final = 4


@check(
    "preferred",
    "prefers as many devices as are asked for",
    why="What is missing is made up at random, and what is not free is dropped: the pod runs on "
    "devices that nobody prefers. An error fails the pod, whatever is free.",
    source="manager.go: devicesToAllocate; NVIDIA/k8s-device-plugin#231",
    needs=("first-list",),
)
def preferred(trial: Trial) -> str:
    """Ask for some of the devices, with and without one that must be among them."""
    if not trial.registered().options.get_preferred_allocation_available:
        raise NotApplicable("it does not offer GetPreferredAllocation")
    available = trial.healthy()
    sizes = sorted({1, min(2, len(available)), min(_MOST, len(available))})
    with trial.calls() as calls:
        for size in sizes:
            for must in ([], available[-1:]):
                _judge(calls.preferred(available, must, size), available, must, size)
    return f"of {len(available)} devices {', '.join(map(str, sizes))}"


def _judge(ids: Sequence[str], available: Sequence[str], must: Sequence[str], size: int) -> None:
    if len(ids) != size:
        raise Failed(f"{len(ids)} IDs, where {size} of {len(available)} were asked for")
    if len(set(ids)) != size:
        raise Failed(f"one ID twice, where {size} were asked for: {', '.join(ids)}")
    if foreign := sorted(set(ids) - set(available)):
        raise Failed(f"{foreign[0]!r} is not one of those that are free")
    if missing := sorted(set(must) - set(ids)):
        raise Failed(f"{missing[0]!r} is not in the answer, where it must be")


@check(
    "pre-start",
    "answers PreStartContainer in time",
    why="The kubelet waits for 30 seconds. With an error, or without an answer, the container does "
    "not start.",
    source="endpoint.go: preStartContainer",
    needs=("allocate-again",),
)
def pre_start(trial: Trial) -> str:
    """Announce a container with a device that was allocated."""
    if not trial.registered().options.pre_start_required:
        raise NotApplicable("it does not ask for PreStartContainer")
    (device, *_) = trial.healthy()
    with trial.calls() as calls:
        calls.allocate([device])
        began = trial.clock.now()
        calls.pre_start([device])
    return f"after {trial.clock.now() - began:.1f} s"
