"""How a plugin makes itself known."""

from typing import Final
from unicodedata import category

from fake_plugin.api.deviceplugin_pb2 import RegisterRequest
from fake_plugin.resources.naming import broken_rule
from lab.conformance.check import Failed, NotApplicable, check
from lab.conformance.fixed_folder import FIXED_FOLDER
from lab.conformance.trial import Trial
from lab.embedded.kubelet.journal import Call
from lab.embedded.kubelet.registration import VERSION

#: What the kernel has room for in the path of a socket: sun_path in sys/un.h, without its NUL.
_PATH_LIMIT: Final = 107


@check(
    "registers",
    "registers in time",
    why="The kubelet looks for nobody: a plugin that does not register is not on the node.",
    source="plugin/v1beta1/server.go: Register",
)
def registers(trial: Trial) -> str:
    """Start the plugin, and wait for its first Register, and for what becomes of that."""
    process = trial.start_plugin()
    began = trial.clock.now()
    if not trial.wait(trial.registers, trial.limits.register):
        others = trial.resources()
        if process.has_ended and not others:
            raise trial.not_started()
        raise Failed(f"{trial.why_not_accepted()}; registered: {', '.join(others) or 'nothing'}")
    call = trial.registers()[0]
    trial.resource = call.resource
    trial.wait(lambda: not call.is_open, trial.limits.register)
    return f"{call.resource!r} after {call.began - began:.1f} s"


def _first(trial: Trial) -> tuple[Call, RegisterRequest]:
    """Return the first Register of all, and what it says."""
    for call in trial.kubelet.journal.calls("Register", trial.resource):
        if isinstance(call.request, RegisterRequest):
            return call, call.request
    raise NotApplicable("the journal has it no more: too many other calls came")


@check(
    "version",
    f"speaks version {VERSION}",
    why="The kubelet takes this version and refuses any other.",
    source="plugin/v1beta1/server.go: isVersionCompatibleWithPlugin",
    needs=("registers",),
)
def version(trial: Trial) -> str:
    """Look at the version in Register."""
    _, request = _first(trial)
    if request.version != VERSION:
        raise Failed(f"version {request.version!r}")
    return request.version


@check(
    "resource-name",
    "names an extended resource",
    why="A name by other rules is refused by the kubelet, and no pod could ask for it either.",
    source="pkg/apis/core/v1/helper/helpers.go: IsExtendedResourceName; "
    "networkservicemesh/networkservicemesh#100; koordinator-sh/koordinator#1025",
    needs=("registers",),
)
def resource_name(trial: Trial) -> str:
    """Look at the resource in Register."""
    if rule := broken_rule(trial.resource):
        raise Failed(f"{trial.resource!r} {rule}")
    return trial.resource


@check(
    "endpoint",
    "registers a socket by its name",
    why="The kubelet puts its folder before whatever it is given: a path leads somewhere by "
    "chance, and one that is too long nowhere. At a NUL a path ends, and other control characters "
    "make logs that cannot be read.",
    source="plugin/v1beta1/server.go: Register; kubernetes/kubernetes#138382; "
    "harvester/harvester#4806",
    needs=("registers",),
)
def endpoint(trial: Trial) -> str:
    """Look at the endpoint in Register."""
    name = _first(trial)[1].endpoint
    if not name or "/" in name or name in {".", "..", "kubelet.sock"}:
        raise Failed(f"{name!r} is not the name of a file of its own in the kubelet's folder")
    if any(category(each) == "Cc" for each in name):
        raise Failed(f"{name!r} has control characters, and is to be a name")
    length = len(f"{FIXED_FOLDER}/{name}".encode())
    if length > _PATH_LIMIT:
        raise Failed(
            f"{name!r}: on a node its path has {length} bytes, and a socket's at most {_PATH_LIMIT}"
        )
    return name


@check(
    "listens-first",
    "listens before it registers",
    why="The kubelet connects within Register, for ten seconds. A plugin that listens only when "
    "Register has returned is never registered, and one that is about to listen is by chance.",
    source="plugin/v1beta1/client.go: dial",
    needs=("registers", "endpoint"),
)
def listens_first(trial: Trial) -> str:
    """Tell whether the socket could be connected to when Register was called."""
    name = _first(trial)[1].endpoint
    if not trial.listened:
        raise Failed(f"nobody listened on {name} when Register was called")
    return f"on {name}"


@check(
    "options",
    "answers GetDevicePluginOptions",
    why="The kubelet asks within Register, and refuses who does not answer. What Register itself "
    "says about options counts for nothing.",
    source="plugin/v1beta1/client.go: Connect; test/e2e_node/device_plugin_failures_test.go",
    needs=("registers",),
)
def options(trial: Trial) -> str:
    """Look at what was asked within the first Register."""
    register, _ = _first(trial)
    asked = trial.kubelet.journal.calls("GetDevicePluginOptions", trial.resource)
    if not asked:
        raise NotApplicable(f"the kubelet did not ask: {register.error or 'it still connects'}")
    if asked[0].error:
        raise Failed(asked[0].error)
    if asked[0].is_open:
        raise Failed(f"no answer within {trial.limits.register:g} s")
    return _offers(trial)


def _offers(trial: Trial) -> str:
    options = trial.registered().options
    offered = {
        "GetPreferredAllocation": options.get_preferred_allocation_available,
        "PreStartContainer": options.pre_start_required,
    }
    return f"offers {' and '.join(name for name, is_so in offered.items() if is_so) or 'neither'}"
