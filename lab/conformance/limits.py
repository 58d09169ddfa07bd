"""How long a plugin may take for what."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """All in seconds."""

    #: To register: after its start, and after a restart of the kubelet.
    register: float = 30.0
    #: To list its devices once it is registered.
    first_list: float = 5.0
    #: To answer a call. The kubelet itself waits for ever, and admits no pod meanwhile.
    call: float = 10.0
    #: To answer PreStartContainer: the kubelet's own limit (devicemanager/types.go).
    pre_start: float = 30.0
    #: To end after SIGTERM; a pod has 30 in all, its preStop hook included.
    end: float = 10.0
    #: How long is looked whether something happens that should not.
    quiet: float = 1.0
    #: How long a plugin is refused by the kubelet.
    refusal: float = 5.0
    #: How long is looked whether a plugin brings its socket back.
    comes_back: float = 3.0
