"""What there is to say of a pod, and of its containers."""

from lab.cluster.objects import Container, Pod
from lab.core.errors import UsageError


def is_up(pod: Pod) -> bool:
    """Whether a container of it runs."""
    return any(each.state == "running" for each in pod.containers)


def require_container(pod: Pod, name: str) -> None:
    """Raise `UsageError` for a name that no container has, and for "" where there are several."""
    # Init containers come first, and one of them has to be named.
    alone = len(pod.images) == 1
    if name in pod.limits or (alone and not name):
        return
    wrong = f"has no container {name!r}" if name else "has several containers: say which is meant"
    raise UsageError(
        f"the pod {pod.name} {wrong}",
        seen=f"containers that it has: {', '.join(pod.limits)}",
        remedy="give the name of one of these",
    )


def told(pod: Pod) -> str:
    """Return what there is to say of a pod, in a line or two."""
    words = [pod.phase or "no phase yet"]
    if pod.terminating:
        words.append("being deleted")
    if pod.node:
        words.append(f"on {pod.node}")
    words.extend(filter(None, (pod.reason, pod.message, pod.unscheduled)))
    words.extend(filter(None, map(_told_container, (*pod.init_containers, *pod.containers))))
    return ", ".join(words)


def _told_container(found: Container) -> str:
    match found.state:
        case "waiting":
            return f"container {found.name} waits: {found.waits_for}" if found.waits_for else ""
        case "terminated":
            return f"container {found.name} ended with {found.exit_code} ({found.reason})"
        case _ if not found.ready:
            return f"container {found.name} runs but is not ready"
        case _:
            return ""
