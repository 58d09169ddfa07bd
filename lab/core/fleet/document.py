"""The shapes of a fleet file beside its pools: every key, its type, and what is wrong with one.

The published JSON Schema is made from these types. What takes two values to break is in `rules`.
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from fake_plugin.faults.fault import MOST_CHARACTERS, Call, WrongAnswer
from fake_plugin.hardware.breakage import Becomes
from lab.core.fleet.pool_document import Entry, PoolEntry, exactly_one_of
from lab.core.fleet.scalars import (
    AtLeastOne,
    Code,
    Duration,
    DurationOrZero,
    FaultCode,
    Index,
    Member,
    ResourceName,
    Text,
)


class FlapEntry(Entry):
    """A change of a device's health."""

    model_config = ConfigDict(json_schema_extra=exactly_one_of("at", "every"))

    at: Duration | None = None
    """When it happens, counted from the plugin's start. Excludes `every`."""
    every: Duration | None = None
    """How often it happens. Excludes `at`."""
    node: Member
    """The node, as `<pool>-<index>`."""
    device: Index
    """The index of the device on its node."""
    becomes: Becomes
    """What the device becomes."""
    xid: AtLeastOne | None = None
    """The number of the error that NVIDIA's driver reports."""
    ecc: Literal["single-bit", "double-bit"] | None = None
    """The memory error that the driver of NVIDIA or AMD reports."""
    code: FaultCode | None = None
    """The code of the fault that Ascend's driver reports."""


class HealthEntry(Entry):
    """What happens to the health of devices, and what recovers."""

    policy: Literal["recovers", "sticky"] = "recovers"
    """`sticky`: what is unhealthy stays so until the plugin restarts."""
    script: list[FlapEntry] = Field(default=[])
    """The changes, in any order."""


class FaultEntry(Entry):
    """Calls that go wrong."""

    model_config = ConfigDict(
        json_schema_extra=exactly_one_of("fails", "delay", "hang", "answers", "drop")
    )

    call: Call
    """The method. On Register it is the kubelet that refuses."""
    node: Member | None = None
    """The node, as `<pool>-<index>`. Without it, every node."""
    resource: ResourceName | None = None
    """The resource. Without it, every one of the node."""
    nth: AtLeastOne | None = None
    """Which call since the plugin's start is the first to go wrong."""
    times: AtLeastOne | None = None
    """How many calls go wrong. Without it one where `nth` is given, and else all."""
    fails: Annotated[Text, Field(max_length=MOST_CHARACTERS)] | None = None
    """The call fails with this text."""
    code: Code | None = None
    """The code of gRPC with which it fails. Default: UNKNOWN."""
    delay: Duration | None = None
    """The call is answered after this long."""
    hang: Literal[True] | None = None
    """The call is never answered."""
    answers: WrongAnswer | None = None
    """The call is answered, and wrongly."""
    drop: DurationOrZero | None = None
    """The stream of ListAndWatch is ended after this long."""


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
    """Calls that go wrong."""
