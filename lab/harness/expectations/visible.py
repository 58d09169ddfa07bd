"""What a container knows of its devices: variables that the lab's plugin sets for all vendors."""

from typing import TYPE_CHECKING, Final

from fake_plugin.vendors.visible import VARIABLE, variable_of
from lab.cluster.connection import ApiFailed
from lab.cluster.objects import Pod

if TYPE_CHECKING:
    from lab.cluster.client import Client

#: What the container's own first process was started with, whatever a shell has changed since.
_ENVIRONMENT: Final = ("cat", "/proc/1/environ")


def visible_devices(
    client: "Client", pod: Pod, resource: str = "", *, container: str = ""
) -> tuple[str, ...] | None:
    """Return the names of a container's devices, none where it was given none.

    None where its environment cannot be read: it does not run, or has no `cat`.
    """
    try:
        code, printed = client.execute(pod, _ENVIRONMENT, container=container)
    except ApiFailed:
        return None
    if code != 0:
        return None
    variables = dict(each.split("=", 1) for each in printed.split("\0") if "=" in each)
    value = variables.get(variable_of(resource) if resource else VARIABLE, "")
    return tuple(filter(None, value.split(",")))
