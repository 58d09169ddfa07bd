"""The shapes of a fleet file: every key, its type, and the rules that one value can break alone.

The published JSON Schema is made from these types. What takes two values to break is in `rules`;
what this version does not act on yet is in `not_acted_on`, and has its shape checked here all
the same.
"""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from fake_plugin.message_limit import MESSAGE_LIMIT
from fake_plugin.resource_name import broken_rule

#: A cluster of up to 5000 nodes is what Kubernetes says it is built for.
MOST_NODES: Final = 5000
#: The plugin sends all devices of a resource in one ListAndWatch message. A device is 56 bytes of
#: it: an ID of 41 characters, "Unhealthy", their framing.
MOST_DEVICES: Final = MESSAGE_LIMIT // 56

_LABEL: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_SUBDOMAIN: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_DURATION: Final = r"^[1-9][0-9]*(ms|s|m|h)$"

#: What each pattern means, in words.
PATTERNS: Final = {
    _LABEL: "a DNS label: lower-case letters, digits and '-', a letter or digit at both ends",
    _SUBDOMAIN: "a node's name: DNS labels with dots between, all lower-case",
    _DURATION: "a whole number above 0 with a unit: ms, s, m or h, as in 30s",
}


def _resource_name(name: str) -> str:
    rule = broken_rule(name)
    if rule:
        raise ValueError(rule)
    return name


Label = Annotated[str, Field(pattern=_LABEL, max_length=63)]
Member = Annotated[str, Field(pattern=_LABEL)]
NodeName = Annotated[str, Field(pattern=_SUBDOMAIN, max_length=253)]
Duration = Annotated[str, Field(pattern=_DURATION)]
# The pattern is what an editor can check; the validator is the rule.
ResourceName = Annotated[
    str,
    AfterValidator(_resource_name),
    Field(json_schema_extra={"pattern": r"^[a-z0-9.-]+/[A-Za-z0-9._-]{1,63}$"}),
]
NumaNode = Annotated[int, Field(ge=0)]


def _exactly_one_of(*keys: str) -> JsonDict:
    return {"oneOf": [{"required": [key]} for key in keys]}


class Entry(BaseModel):
    """A mapping of the file: types are taken as they stand, unknown keys are errors."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )


class SharingEntry(Entry):
    """How one device is offered several times."""

    strategy: Literal["time-slicing", "mps"]
    """How the holders of a device share it."""
    replicas: Annotated[int, Field(ge=2)]
    """How many times each device is offered."""
    rename: bool = False
    """Whether the resource is offered as `<resource>.shared`."""


class PoolEntry(Entry):
    """Nodes that are alike."""

    model_config = ConfigDict(json_schema_extra=_exactly_one_of("accelerator", "resource"))

    name: Label
    """The pool's name. Its nodes are called `<name>-<index>` from 0."""
    nodes: Annotated[int, Field(ge=1, le=MOST_NODES)]
    """How many nodes are in the pool."""
    node_names: Annotated[list[NodeName] | None, Field(alias="nodeNames", min_length=1)] = None
    """The cluster's names for the nodes, in order. Without it, workers are taken in order."""
    accelerator: Label | None = None
    """The model of the devices, by its name in the catalogue. Excludes `resource`."""
    resource: ResourceName | None = None
    """The extended resource under which the devices are offered. Excludes `accelerator`."""
    count: Annotated[int, Field(ge=0, le=MOST_DEVICES)]
    """How many devices each node has."""
    numa: list[NumaNode] | None = None
    """The NUMA node of each device."""
    sharing: SharingEntry | None = None
    """How one device is offered several times."""
    taint: bool = False
    """Whether the nodes get the taint `<resource>=present:NoSchedule`."""


class FlapEntry(Entry):
    """A change of a device's health."""

    model_config = ConfigDict(json_schema_extra=_exactly_one_of("at", "every"))

    at: Duration | None = None
    """When it happens, counted from the plugin's start. Excludes `every`."""
    every: Duration | None = None
    """How often it happens. Excludes `at`."""
    node: Member
    """The node, as `<pool>-<index>`."""
    device: Annotated[int, Field(ge=0)]
    """The index of the device on its node."""
    becomes: Literal["healthy", "unhealthy", "toggled"]
    """What the device becomes."""
    xid: Annotated[int | None, Field(ge=1)] = None
    """The NVIDIA error number that is reported with it."""


class HealthEntry(Entry):
    """What happens to the health of devices, and what recovers."""

    policy: Literal["recovers", "sticky"] = "recovers"
    """`sticky`: what is unhealthy stays so until the plugin restarts."""
    script: list[FlapEntry] = []
    """The changes, in any order."""


class FaultEntry(Entry):
    """A gRPC call that the plugin answers with an error."""

    call: Literal[
        "GetDevicePluginOptions",
        "ListAndWatch",
        "Allocate",
        "GetPreferredAllocation",
        "PreStartContainer",
    ]
    """The method."""
    node: Member
    """The node, as `<pool>-<index>`."""
    nth: Annotated[int | None, Field(ge=1)] = None
    """Which call since the plugin's start fails. Without it, each one does."""
    fails: Annotated[str, Field(min_length=1)]
    """The text of the error."""


class FleetDocument(Entry):
    """A fleet of nodes with fake accelerators."""

    model_config = ConfigDict(title="Fleet")

    api_version: Annotated[Literal["gpu-lab/v1"], Field(alias="apiVersion")]
    """The version of this format."""
    kind: Literal["Fleet"]
    """What the file describes."""
    pools: Annotated[list[PoolEntry], Field(min_length=1)]
    """Groups of nodes that are alike."""
    health: HealthEntry | None = None
    """What happens to the health of devices, and what recovers."""
    faults: list[FaultEntry] | None = None
    """gRPC calls that fail."""
