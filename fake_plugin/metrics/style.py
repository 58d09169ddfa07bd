"""What NVIDIA's exporter can be told to print."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

List: TypeAlias = Literal["default", "operator"]
Hostname: TypeAlias = Literal["hostname", "Hostname"]

LISTS: Final[tuple[List, ...]] = ("default", "operator")
HOSTNAMES: Final[tuple[Hostname, ...]] = ("hostname", "Hostname")


@dataclass(frozen=True, slots=True)
class Style:
    """Which list of fields the exporter was given, and how it spells the label of the node.

    It was `Hostname` before release 4.8.3 (NVIDIA/dcgm-exporter issue #655).
    """

    fields: List = "default"
    hostname: Hostname = "hostname"
