"""A configuration in the format of NVIDIA's plugin: what it does, and what is refused of it."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from fake_plugin.fleet.notices import Notice, notices_of
from fake_plugin.fleet.offering import devices_of
from fake_plugin.plan import Answering, Share, Sharing
from fake_plugin.vendors import nvidia
from fake_plugin.vendors.offer import Refused
from tests.unit.fake_plugin.fleet.conftest import MODELS

#: As in the README of NVIDIA/k8s-device-plugin, with all keys of the plugin at their defaults.
DEFAULTS = """
version: v1
flags:
  migStrategy: none
  failOnInitError: true
  nvidiaDriverRoot: /
  gdsEnabled: false
  mofedEnabled: false
  plugin:
    passDeviceSpecs: false
    deviceListStrategy: [envvar]
    deviceIDStrategy: uuid
    cdiAnnotationPrefix: cdi.k8s.io/
    nvidiaCTKPath: /usr/bin/nvidia-ctk
    containerDriverRoot: /driver-root
  gfd: {oneshot: false, noTimestamp: false, sleepInterval: 60s, outputFile: /etc/x}
resources: {gpus: [{pattern: "*", name: nvidia.com/gpu}]}
"""
GPU = {"name": "nvidia.com/gpu", "replicas": 10}
MIG = {"name": "nvidia.com/mig-1g.10gb", "replicas": 2}
TEN = {"nvidia.com/gpu": 10}
#: Card 0 is cut into seven, card 1 is whole.
CUT = {"strategy": "mixed", "layout": [{"devices": [0], "profiles": {"1g.10gb": 7}}]}


def sharing(
    kind: str = "timeSlicing", *resources: dict[str, Any], **keys: object
) -> dict[str, Any]:
    """Return a configuration that shares these resources, or all GPUs ten times."""
    shared = {**keys, "resources": list(resources) or [GPU]}
    return {"version": "v1", "sharing": {kind: shared}}


def test_the_defaults_change_nothing(share_of: Callable[..., Share]) -> None:
    """A file that says what NVIDIA's plugin does anyway is accepted."""
    share = share_of(nvidiaConfig=yaml.safe_load(DEFAULTS))
    assert (share.sharing, share.answering) == (None, Answering())


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (sharing(), Sharing("time-slicing", 10, each=TEN)),
        (sharing(renameByDefault=True), Sharing("time-slicing", 10, rename=True, each=TEN)),
        (
            sharing(failRequestsGreaterThanOne=True),
            Sharing("time-slicing", 10, fail_above_one=True, each=TEN),
        ),
        (sharing("mps"), Sharing("mps", 10, fail_above_one=True, each=TEN)),
        (
            sharing("timeSlicing", GPU | {"rename": "x", "devices": [0]}),
            Sharing("time-slicing", 10, each=TEN),
        ),
        (sharing("timeSlicing", GPU | {"name": "gpu"}), Sharing("time-slicing", 10, each=TEN)),
    ],
    ids=str,
)
def test_sharing_is_that_of_the_file(
    share_of: Callable[..., Share], config: dict[str, Any], expected: Sharing
) -> None:
    """`rename` and `devices` of a resource are passed over, as NVIDIA's plugin does."""
    assert share_of(nvidiaConfig=config).sharing == expected


def test_flags_are_those_of_the_file(share_of: Callable[..., Share]) -> None:
    """The strategy of partitions and the ways to answer."""
    plugin = {
        "passDeviceSpecs": True,
        "deviceListStrategy": "volume-mounts",
        "deviceIDStrategy": "index",
        "sharedDevicesAllocationPolicy": "packed",
    }
    flags = {"migStrategy": "mixed", "gdrcopyEnabled": True, "plugin": plugin}
    share = share_of(
        nvidiaConfig={"version": "v1", "flags": flags},
        partitions={"layout": [{"devices": [1], "profiles": {"1g.10gb": 7}}]},
    )
    assert share.partitions
    assert share.partitions.strategy == "mixed"
    assert share.partitions.layout == {1: ("1g.10gb",) * 7}
    assert share.answering == Answering(
        ("volume-mounts",), "index", pass_device_specs=True, replica_policy="packed", gdrcopy=True
    )


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (
            {"version": "v1", "flags": {"renameByDefault": True}},
            (
                ".flags.renameByDefault is not a key of this place; it belongs at "
                "sharing.timeSlicing.renameByDefault or sharing.mps.renameByDefault"
            ),
        ),
        (
            {"version": "v1", "sharing": {"renameByDefault": True}},
            (
                ".sharing.renameByDefault is not a key of this place; it belongs at "
                "sharing.timeSlicing.renameByDefault or sharing.mps.renameByDefault"
            ),
        ),
        (
            {"version": "v1", "flags": {"deviceIDStrategy": "index"}},
            (
                ".flags.deviceIDStrategy is not a key of this place; it belongs at "
                "flags.plugin.deviceIDStrategy"
            ),
        ),
        (
            {"version": "v1", "flags": {"migStrategie": "mixed"}},
            ".flags.migStrategie is not a key of this place; did you mean migStrategy?",
        ),
        (
            {"version": "v1", "zzz": 1},
            ".zzz is not a key of this place; known here: version, flags, sharing, imex, resources",
        ),
        ({"flags": {}}, " has no version; add `version: v1`"),
        ({"version": "v2"}, '.version is "v2" (must be v1)'),
        ({"version": "v1", "flags": []}, ".flags is [] (must be a mapping)"),
        (
            {"version": "v1", "flags": {"migStrategy": "all"}},
            '.flags.migStrategy is "all" (must be none or single or mixed)',
        ),
        (
            {"version": "v1", "flags": {"plugin": {"passDeviceSpecs": "yes"}}},
            '.flags.plugin.passDeviceSpecs is "yes" (must be true or false)',
        ),
        (
            {"version": "v1", "flags": {"failOnInitError": False}},
            (
                ".flags.failOnInitError is false (fake hardware has nothing that it could change: "
                "leave it out, or at true)"
            ),
        ),
        (
            {"version": "v1", "flags": {"nvidiaDriverRoot": "/run/nvidia/driver"}},
            (
                '.flags.nvidiaDriverRoot is "/run/nvidia/driver" (fake hardware has nothing that '
                'it could change: leave it out, or at "/")'
            ),
        ),
        (
            sharing("timeSlicing", GPU | {"replicas": 1}),
            ".sharing.timeSlicing.resources[0].replicas is 1 (must be 2 to 100000)",
        ),
        (
            sharing("timeSlicing", GPU | {"replicas": 0}),
            ".sharing.timeSlicing.resources[0].replicas is 0 (must be 2 to 100000)",
        ),
        (
            sharing("timeSlicing", {"name": "nvidia.com/gpu"}),
            ".sharing.timeSlicing.resources[0] has no replicas; add replicas",
        ),
        (
            {"version": "v1", "sharing": {"mps": {}}},
            ".sharing.mps.resources names no resource (upstream shares what is named here)",
        ),
        (
            {"version": "v1", "sharing": {"mps": {"resources": 4}}},
            ".sharing.mps.resources is 4 (must be a list of mappings)",
        ),
        (
            {"version": "v1", "sharing": {"mps": {"resources": [4]}}},
            ".sharing.mps.resources[0] is 4 (must be a mapping)",
        ),
        (
            {"version": "v1", "sharing": sharing()["sharing"] | sharing("mps")["sharing"]},
            ".sharing has timeSlicing and mps (a plugin shares in one way)",
        ),
        (
            sharing("mps", GPU, {"name": "gpu", "replicas": 2}),
            (".sharing.mps.resources names nvidia.com/gpu again (a resource is shared in one way)"),
        ),
        (
            sharing("timeSlicing", {"name": "nvidia.com/mig-1g.10gb", "replicas": 2}),
            (
                ".sharing.timeSlicing.resources names nvidia.com/mig-1g.10gb (NVIDIA's plugin "
                "would share nothing: the pool has nvidia.com/gpu); name what the pool has"
            ),
        ),
        ("config.yaml", " is the path of a file (a node has no such file); where gpulab is, "),
    ],
    ids=str,
)
def test_what_would_have_no_effect_is_refused(
    refusal_of: Callable[..., str], config: object, text: str
) -> None:
    """Upstream lets misplaced keys through without a word (NVIDIA/k8s-device-plugin#1433)."""
    assert refusal_of(nvidiaConfig=config).startswith(f"nvidiaConfig{text}")


@pytest.mark.parametrize(
    ("config", "alias", "devices"),
    [
        (sharing(), None, {"nvidia.com/mig-1g.10gb": 7, "nvidia.com/gpu": 10}),
        (sharing("timeSlicing", MIG), None, {"nvidia.com/mig-1g.10gb": 14, "nvidia.com/gpu": 1}),
        (
            sharing("timeSlicing", GPU, MIG, renameByDefault=True),
            None,
            {"nvidia.com/mig-1g.10gb.shared": 14, "nvidia.com/gpu.shared": 10},
        ),
        (
            sharing("timeSlicing", GPU, renameByDefault=True),
            "a.com/x",
            {"nvidia.com/mig-1g.10gb": 7, "a.com/x.shared": 10},
        ),
    ],
    ids=str,
)
def test_each_resource_is_shared_in_its_own_number(
    share_of: Callable[..., Share],
    config: dict[str, Any],
    alias: str | None,
    devices: dict[str, int],
) -> None:
    """What a file does not name stays as it is, with its own name."""
    named = {"alias": alias} if alias else {}
    assert devices_of(share_of(nvidiaConfig=config, partitions=CUT, **named)) == devices


def test_only_replicas_are_refused_to_one_container(share_of: Callable[..., Share]) -> None:
    """`failRequestsGreaterThanOne` is about resources that are shared (internal/rm/rm.go)."""
    config = sharing(failRequestsGreaterThanOne=True)
    share = share_of(nvidiaConfig=config, partitions=CUT)
    cards = [nvidia.card("n", share, index, index) for index in range(2)]
    found = {offer.resource: offer for offer in nvidia.offers(share, cards)}
    mig, gpu = found["nvidia.com/mig-1g.10gb"], found["nvidia.com/gpu"]
    assert mig.answer(mig.devices[:2]).envs["NVIDIA_VISIBLE_DEVICES"].count("MIG-") == 2
    with pytest.raises(Refused, match="maximum request size for shared resources is 1; found 2"):
        gpu.answer(gpu.devices[:2])


@pytest.mark.parametrize(
    ("pool", "notices"),
    [
        ({"nvidiaConfig": sharing()}, []),
        ({"nvidiaConfig": sharing("timeSlicing", GPU | {"devices": "all"})}, []),
        (
            {
                "nvidiaConfig": sharing(
                    "timeSlicing", GPU | {"rename": "nvidia.com/gpu.shared"}, renameByDefault=True
                )
            },
            [],
        ),
        (
            {"nvidiaConfig": sharing("mps", GPU | {"rename": "x", "devices": 1})},
            [
                ("sharing.mps.resources[0].rename", "is ignored, as NVIDIA's plugin does"),
                (
                    "sharing.mps.resources[0].devices",
                    "is ignored, as NVIDIA's plugin does: all devices are shared",
                ),
            ],
        ),
        (
            {"nvidiaConfig": sharing("timeSlicing", GPU, MIG)},
            [
                (
                    "sharing.timeSlicing.resources[1].name",
                    "is ignored: the pool has no nvidia.com/mig-1g.10gb",
                )
            ],
        ),
        (
            {"nvidiaConfig": yaml.safe_load(DEFAULTS)},
            [("resources", "is ignored, as NVIDIA's plugin does")],
        ),
    ],
    ids=str,
)
def test_what_upstream_warns_of_is_noticed(
    share_of: Callable[..., Share], pool: dict[str, Any], notices: list[tuple[str, str]]
) -> None:
    """What is right and has no effect is told with its key, as `rename` (k8s-device-plugin#353)."""
    found = [(each.key, each.what) for each in notices_of(share_of(**pool))]
    assert found == [(f"nvidiaConfig.{key}", what) for key, what in notices]


@pytest.mark.parametrize(("strategy", "number"), [("mixed", 1), ("none", 0)])
def test_a_card_without_a_mig_device_is_noticed(
    share_of: Callable[..., Share], strategy: str, number: int
) -> None:
    """Upstream warns of it with `mixed`; with `none` nobody looks."""
    layout = [{"devices": [1], "profiles": {}}]
    share = share_of(partitions={"strategy": strategy, "layout": layout})
    expected = Notice(
        "partitions.layout", "card 1 has no MIG devices configured: it is offered as nothing"
    )
    assert list(notices_of(share)) == [expected] * number


@pytest.mark.parametrize(
    ("pool", "text"),
    [
        (
            {"sharing": {"strategy": "mps", "replicas": 2}},
            "sharing is given beside nvidiaConfig (both say it); remove one",
        ),
        ({"answering": {}}, "answering is given beside nvidiaConfig (both say it); remove one"),
        (
            {"partitions": {"strategy": "single"}},
            (
                "partitions.strategy is single, and nvidiaConfig.flags.migStrategy is mixed "
                "(one strategy holds); remove one"
            ),
        ),
        (
            {"accelerator": MODELS["amd"]},
            "nvidiaConfig is given for another vendor (it is NVIDIA's format)",
        ),
    ],
    ids=str,
)
def test_a_contradiction_to_the_file_is_refused(
    refusal_of: Callable[..., str], pool: dict[str, Any], text: str
) -> None:
    """Nothing decides silently which of two keys holds."""
    config = {"version": "v1", "flags": {"migStrategy": "mixed"}}
    assert refusal_of(nvidiaConfig=config, **pool) == text
