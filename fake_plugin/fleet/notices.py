"""What a pool says and a vendor's plugin does not do, though it starts: it warns, and so do we.

Source: NVIDIA/k8s-device-plugin, api/config/v1/config.go and replicas.go (`rename`, `devices` and
`resources` are parsed and ignored) and internal/rm/device_map.go (a card without a MIG device).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fake_plugin.fleet.broken_rule import written_path
from fake_plugin.plan import Share

_SHARED: Final = ".shared"


@dataclass(frozen=True)
class Notice:
    """A warning about what stands at `key` below a pool."""

    key: str
    what: str


def notices_of(share: Share) -> Iterator[Notice]:
    """Yield what the vendor's plugin would warn of; nothing in the share breaks a rule."""
    if share.nvidia_config:
        yield from _of_config(share, share.nvidia_config)
    yield from _of_layout(share)


def _of_config(share: Share, config: Mapping[str, Any]) -> Iterator[Notice]:
    # Most nodes have no such file, and the plugin's start is short.
    from fake_plugin.fleet.nvidia_config import full_name, strangers  # noqa: PLC0415 - see above

    if config.get("resources"):
        yield Notice("nvidiaConfig.resources", "is ignored, as NVIDIA's plugin does")
    for kind, shared in config.get("sharing", {}).items():
        resources = shared["resources"]
        missing = strangers(share, resources)
        for at, entry in enumerate(resources):
            key = written_path(("nvidiaConfig", "sharing", kind, "resources", at))
            name = full_name(entry["name"])
            if name in missing:
                yield Notice(f"{key}.name", f"is ignored: the pool has no {name}")
            usual = name + _SHARED if shared.get("renameByDefault") else ""
            if entry.get("rename", usual) != usual:
                yield Notice(f"{key}.rename", "is ignored, as NVIDIA's plugin does")
            if entry.get("devices", "all") != "all":
                what = "is ignored, as NVIDIA's plugin does: all devices are shared"
                yield Notice(f"{key}.devices", what)


def _of_layout(share: Share) -> Iterator[Notice]:
    partitions = share.partitions
    if partitions is None or partitions.strategy != "mixed":
        return
    for card, cut in sorted(partitions.layout.items()):
        if not cut:
            what = f"card {card} has no MIG devices configured: it is offered as nothing"
            yield Notice("partitions.layout", what)
