"""Every event that the plugin logs. The names are a contract for what reads the log."""

import logging
from typing import Final

from fake_plugin.log import Event

CANNOT_START: Final = Event("cannot-start", "the plugin cannot start", logging.ERROR)
CRASHED: Final = Event("crashed", "a mistake in the plugin ends it", logging.CRITICAL)
SCANNED: Final = Event("scanned", "found the cards of the node, and what they are offered as")
STARTED: Final = Event("started", "the plugin has started")
NOTHING_TO_SERVE: Final = Event(
    "nothing-to-serve", "no pool of the fleet has this node: waiting for the end, serving nothing"
)
OVERLOOKED: Final = Event(
    "overlooked",
    "the fleet says something that the vendor's plugin only warns of",
    logging.WARNING,
)
HEALTH_CHECKS: Final = Event(
    "health-checks",
    "the environment says which errors make an NVIDIA card unhealthy",
)
STATE_SET_ASIDE: Final = Event(
    "state-set-aside",
    "the file of the hardware's state makes no sense: set aside, and all hardware is sound again",
    logging.ERROR,
)
STATE_NOT_WRITTEN: Final = Event(
    "state-not-written",
    "the state of the hardware cannot be written: the change has not happened",
    logging.ERROR,
)
CONTROL_LISTENING: Final = Event("control-listening", "the control API can be called")
COMMANDED: Final = Event("commanded", "the control API was told to change something")
CONTROL_FAILED: Final = Event(
    "control-failed", "a mistake in the control API: that one call was not answered", logging.ERROR
)
STOPPING: Final = Event("stopping", "asked to end: closing streams and removing sockets")
STOPPED: Final = Event("stopped", "the plugin has ended")

WATCH_MISSING: Final = Event(
    "watch-missing",
    "the system does not report changes of the folder: looking twice a second instead",
    logging.WARNING,
)
LEFTOVER_REMOVED: Final = Event(
    "leftover-removed", "removed a dead socket that an earlier run of this plugin left behind"
)

WAITING: Final = Event(
    "waiting-for-kubelet", "the kubelet cannot be reached yet: trying again", logging.WARNING
)
REGISTER_HELD: Final = Event(
    "register-held", "a fault holds the registration back: not registered until it is over"
)
CANNOT_LISTEN: Final = Event("cannot-listen", "the socket cannot be opened", logging.ERROR)
REGISTERING: Final = Event("registering", "telling the kubelet about the resource")
REGISTERED: Final = Event("registered", "the kubelet has accepted the resource")
REFUSED: Final = Event(
    "refused", "the kubelet did not accept the resource: trying again", logging.ERROR
)
REGISTRATION_LOST: Final = Event(
    "registration-lost",
    "the registration no longer holds: listening and registering again",
    logging.WARNING,
)

OPTIONS_ASKED: Final = Event("options-asked", "the kubelet asked what the plugin can do")
STREAM_OPENED: Final = Event("stream-opened", "the kubelet watches the list of devices")
LIST_SENT: Final = Event("list-sent", "sent the whole list of devices")
STREAM_ENDED: Final = Event("stream-ended", "the list of devices is no longer watched")
PREFERRED: Final = Event("preferred", "said which of the free devices to give to a container")
ALLOCATED: Final = Event("allocated", "told the kubelet how a container gets its devices")
PRE_STARTED: Final = Event("pre-started", "a container is about to start with its devices")
UNKNOWN_DEVICE: Final = Event(
    "unknown-device", "asked for a device that this node does not have", logging.ERROR
)

HOLDERS_UNKNOWN: Final = Event(
    "holders-unknown",
    "the kubelet does not say which pod holds which device: metrics name no pods until it does",
    logging.WARNING,
)

CDI_WRITTEN: Final = Event("cdi-written", "wrote what CDI names of devices stand for")
CDI_REMOVED: Final = Event("cdi-removed", "removed a CDI spec that defines nothing here any more")
CDI_NOT_WRITTEN: Final = Event(
    "cdi-not-written",
    "the CDI specs are not as the cards are: containers of new cards cannot start",
    logging.ERROR,
)

TABLE_NOT_WRITTEN: Final = Event(
    "table-not-written",
    "the vendors' tools in containers show the hardware as it was: trying again",
    logging.WARNING,
)
