"""The shapes of a pool: every key, its type, and the rules that one value can break alone."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag
from pydantic.config import JsonDict

from fake_plugin.fleet.shares import MOST_PARTITIONS
from fake_plugin.hardware.accelerator import Vendor
from fake_plugin.plan import (
    MOST_OF_A_CARD,
    Dialect,
    IdStrategy,
    ListStrategy,
    PartitionStrategy,
    ReplicaPolicy,
    SharingStrategy,
)
from fake_plugin.resources.message_limit import MOST_DEVICES
from lab.core.fleet.scalars import (
    MOST_NODES,
    AtLeastOne,
    Cards,
    Figure,
    Index,
    Label,
    NodeName,
    ResourceName,
    Text,
)

#: Where pydantic tells the forms of a value apart, these are parts of the path to an error.
FORMS: Final = frozenset({"(name)", "(model)", "(path)", "(one)", "(list)", "(config)"})


def exactly_one_of(*keys: str) -> JsonDict:
    """Return what a JSON Schema says of keys of which one, and no more, must be there."""
    return {"oneOf": [{"required": [key]} for key in keys]}


class Entry(BaseModel):
    """A mapping of the file: types are taken as they stand, unknown keys are errors."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )


class ProfileEntry(Entry):
    """A way to cut a card of an accelerator."""

    name: Text
    """The profile's name, as in a layout."""
    most: AtLeastOne
    """How many of it fit on one card."""
    compute: Index
    """How many of the card's compute slices it takes."""
    memory: Index
    """How many of the card's memory slices it takes."""
    memory_mib: Annotated[Figure, Field(alias="memoryMiB")] = None
    """What a container may use of the memory, in MiB."""


def _each_once(profiles: list[ProfileEntry]) -> list[ProfileEntry]:
    names = [profile.name for profile in profiles]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise ValueError(f"each profile once, and {name} is there again")
    return profiles


class AcceleratorEntry(Entry):
    """An accelerator that the catalogue does not have."""

    name: Label
    """The model's name."""
    vendor: Vendor
    """Whose plugin is imitated."""
    product: Text
    """What the vendor's tools call it."""
    architecture: Text | None = None
    """Such as hopper, gfx942 or 910B3."""
    memory_mib: Annotated[Figure, Field(alias="memoryMiB")] = None
    """The memory that the driver shows, in MiB."""
    power_watts: Annotated[Figure, Field(alias="powerWatts")] = None
    """The most power it takes, in W."""
    compute_slices: Annotated[Index, Field(alias="computeSlices")] = 0
    """How many slices of compute a card can be cut into."""
    memory_slices: Annotated[Index, Field(alias="memorySlices")] = 0
    """How many slices of memory a card can be cut into."""
    profiles: Annotated[list[ProfileEntry], AfterValidator(_each_once)] = []
    """The ways to cut a card."""


class SharingEntry(Entry):
    """How one device is offered several times."""

    strategy: SharingStrategy
    """How the holders of a device share it."""
    replicas: Annotated[int | None, Field(ge=2, le=MOST_OF_A_CARD)] = None
    """How many times each device is offered. Not with `percentage`."""
    rename: bool | None = None
    """Whether the resource is offered as `<resource>.shared`. Not with `percentage`."""
    fail_requests_greater_than_one: Annotated[
        bool | None, Field(alias="failRequestsGreaterThanOne")
    ] = None
    """Whether a container that asks for two is refused. Default: with `mps` only."""
    memory_unit_mib: Annotated[AtLeastOne | None, Field(alias="memoryUnitMiB")] = None
    """What one device of the memory resource stands for, in MiB. Only with `percentage`."""


class LayoutEntry(Entry):
    """Cards that are cut alike."""

    devices: Cards
    """The indices of the cards, or `all`."""
    profiles: dict[str, Annotated[int, Field(ge=1, le=MOST_PARTITIONS)]]
    """How many partitions of each profile. None: in MIG mode without a partition."""


class PartitionsEntry(Entry):
    """How cards are cut up."""

    strategy: PartitionStrategy | None = None
    """How partitions are offered. Can be left out where `nvidiaConfig` says it."""
    layout: list[LayoutEntry] = []
    """The cards that are cut. One that is not named is whole."""


def _form_of_list(value: object) -> str:
    return "(list)" if isinstance(value, list) else "(one)"


class AnsweringEntry(Entry):
    """How the plugin answers, under the names of NVIDIA's flags."""

    device_list_strategy: Annotated[
        Annotated[ListStrategy, Tag("(one)")] | Annotated[list[ListStrategy], Tag("(list)")],
        Discriminator(_form_of_list),
        Field(alias="deviceListStrategy"),
    ] = "envvar"
    """How a container is told of its devices."""
    device_id_strategy: Annotated[IdStrategy, Field(alias="deviceIDStrategy")] = "uuid"
    """What a container is told of a device."""
    pass_device_specs: Annotated[bool, Field(alias="passDeviceSpecs")] = False
    """Whether device files are given to a container."""
    shared_devices_allocation_policy: Annotated[
        ReplicaPolicy, Field(alias="sharedDevicesAllocationPolicy")
    ] = "distributed"
    """Whether replicas are chosen from many devices or from few."""
    cdi_annotation_prefix: Annotated[Text | None, Field(alias="cdiAnnotationPrefix")] = None
    """How the keys of CDI annotations begin."""
    gds_enabled: Annotated[bool, Field(alias="gdsEnabled")] = False
    """Whether a container is told of GPUDirect Storage."""
    mofed_enabled: Annotated[bool, Field(alias="mofedEnabled")] = False
    """Whether a container is told of Mellanox OFED."""
    gdrcopy_enabled: Annotated[bool, Field(alias="gdrcopyEnabled")] = False
    """Whether a container is told of GDRCopy."""


class LoadEntry(Entry):
    """What a card shows that a container holds."""

    utilization: Annotated[float, Field(ge=0, le=1)]
    """Its utilisation, from 0 to 1."""


def _form_of_model(value: object) -> str:
    return "(model)" if isinstance(value, dict) else "(name)"


def _form_of_config(value: object) -> str:
    return "(config)" if isinstance(value, dict) else "(path)"


_Accelerator = Annotated[
    Annotated[Label, Tag("(name)")] | Annotated[AcceleratorEntry, Tag("(model)")],
    Discriminator(_form_of_model),
]
# What is in it is for `fake_plugin.fleet.nvidia_format`, which has all of the format in one table.
_NvidiaConfig = Annotated[
    Annotated[Text, Tag("(path)")] | Annotated[dict[str, object], Tag("(config)")],
    Discriminator(_form_of_config),
]


class PoolEntry(Entry):
    """Nodes that are alike."""

    model_config = ConfigDict(json_schema_extra=exactly_one_of("accelerator", "resource"))

    name: Label
    """The pool's name. Its nodes are called `<name>-<index>` from 0."""
    nodes: Annotated[int, Field(ge=1, le=MOST_NODES)]
    """How many nodes are in the pool."""
    node_names: Annotated[list[NodeName] | None, Field(alias="nodeNames", min_length=1)] = None
    """The cluster's names for the nodes, in order. Without it, workers are taken in order."""
    accelerator: _Accelerator | None = None
    """The model of the devices: its name in the catalogue, or a model. Excludes `resource`."""
    resource: ResourceName | None = None
    """The extended resource under which the devices are offered. Excludes `accelerator`."""
    alias: ResourceName | None = None
    """What the resource of the accelerator's vendor is called instead."""
    dialect: Dialect = "official"
    """Whose resource names an Ascend card has: those of its own plugin, or of HAMi's."""
    count: Annotated[int, Field(ge=0, le=MOST_DEVICES)]
    """How many devices each node has."""
    numa: list[Index] | None = None
    """The NUMA node of each device."""
    sharing: SharingEntry | None = None
    """How one device is offered several times."""
    partitions: PartitionsEntry | None = None
    """How cards are cut up."""
    nvidia_config: Annotated[_NvidiaConfig | None, Field(alias="nvidiaConfig")] = None
    """A configuration of NVIDIA's plugin, or the path of one, from the fleet file."""
    answering: AnsweringEntry | None = None
    """How the plugin answers to the kubelet."""
    pre_start: Annotated[bool, Field(alias="preStart")] = False
    """Whether the plugin asks for PreStartContainer calls."""
    health_policy: Annotated[Literal["recovers", "sticky"] | None, Field(alias="healthPolicy")] = (
        None
    )
    """`sticky`: what is unhealthy stays so until the plugin restarts. Default: that of `health`."""
    load: LoadEntry | None = None
    """What a card shows that a container holds."""
    taint: bool = False
    """Whether the nodes get the taint `<resource>=present:NoSchedule`."""
