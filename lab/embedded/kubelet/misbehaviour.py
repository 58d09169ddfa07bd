"""What a kubelet can be made to do otherwise than a well one."""

import threading
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Misbehaviour:
    """For tests of plugins; may be changed at any time, and counts from the next call on."""

    #: The text of a refusal of Register, with {} for the name of the plugin's socket.
    refuses: str = ""
    #: Register is accepted, and ListAndWatch never called.
    never_watches: bool = False
    #: A start leaves the sockets of plugins where they are.
    keeps_sockets: bool = False
    #: Register does not go on before this is set; a stop sets it.
    released: threading.Event | None = None
    #: Called when Register is.
    on_register: Callable[[], None] = lambda: None
