"""The way of a pod to its devices in nine steps, from the scan of a node to what a container sees.

    observation  what there is to be known of a pod, gathered by `reading`
    timeline     the nine steps, told from an observation and nothing else
    text, picture  the same for a terminal and as SVG, in two languages

Every step has its time as exactly as something tells it, and says where it is known from. What
nobody tells is said to be unknown: nothing is guessed.
"""

from lab.core.clock import Clock, SystemClock
from lab.harness.timeline.reading import observe
from lab.harness.timeline.timeline import Timeline
from lab.install.status import RunningLab

__all__ = ["Timeline", "timeline_of"]


def timeline_of(lab: RunningLab, namespace: str, pod: str, clock: Clock | None = None) -> Timeline:
    """Return the way of a pod to its devices, as far as it has come and is known.

    `clock` is the one that the cluster's components go by (default: that of the machine).
    Never raises for a cluster, or a part of it, that does not answer: the steps that only that
    could tell are unknown, with the reason.
    """
    return Timeline.of(observe(lab, namespace, pod, clock or SystemClock()))
