"""What a container knows of its devices: variables that the lab's plugin sets for all vendors."""

import http
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fake_plugin.vendors.visible import VARIABLE, variable_of
from lab.cluster.connection import ApiFailed
from lab.cluster.objects import Pod

if TYPE_CHECKING:
    from lab.cluster.client import Client

#: What the container's own first process was started with, whatever a shell has changed since.
_ENVIRONMENT: Final = ("cat", "/proc/1/environ")
#: The container does not run, the pod has gone, or there is no `cat`; it may be otherwise soon.
_NOT_NOW: Final = frozenset(
    {
        http.HTTPStatus.BAD_REQUEST,
        http.HTTPStatus.NOT_FOUND,
        http.HTTPStatus.INTERNAL_SERVER_ERROR,
    }
)


@dataclass(frozen=True)
class Unreadable:
    """The environment of a container cannot be read, for this reason: nothing is known of it."""

    container: str
    why: str

    def of(self, pod: str) -> str:
        """Return it as a sentence."""
        whose = f"container {self.container} of {pod}" if self.container else pod
        return f"the environment of {whose} cannot be read: {self.why}"


def visible_devices(
    client: "Client", pod: Pod, resource: str = "", *, container: str = ""
) -> tuple[str, ...] | Unreadable:
    """Return the names of a container's devices, of one resource or of all that it has together.

    Raises `ApiFailed` where the server lets nobody in, or does not answer.
    """
    try:
        code, printed = client.execute(pod, _ENVIRONMENT, container=container)
    except ApiFailed as error:
        if error.status not in _NOT_NOW:
            raise
        return Unreadable(container, error.seen)
    if code != 0:
        return Unreadable(container, printed.strip() or f"cat ended with code {code}")
    variables = dict(each.split("=", 1) for each in printed.split("\0") if "=" in each)
    # The short variable has the devices of either resource where a container has two.
    told = [
        value
        for name, value in variables.items()
        if (name == variable_of(resource) if resource else name.startswith(VARIABLE))
    ]
    return tuple(dict.fromkeys(filter(None, ",".join(told).split(","))))
