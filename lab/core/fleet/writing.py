"""A fleet as the text of a file, which the lab and the plugin read back as the same fleet."""

from collections import Counter

import yaml

from fake_plugin.fleet.accelerators import spelled_out
from fake_plugin.plan import Answering, Partitions, Sharing
from lab.core.fleet import wording
from lab.core.fleet.model import API_VERSION, KIND, Fleet, NodeFault, NodeFlap, Pool


def written(fleet: Fleet) -> str:
    """Return the text of a file."""
    document: dict[str, object] = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "pools": [_pool(pool) for pool in fleet.pools],
    }
    if fleet.sticky or fleet.script:
        policy = _policy(sticky=fleet.sticky)
        document["health"] = {"policy": policy, "script": [_flap(each) for each in fleet.script]}
    if fleet.faults:
        document["faults"] = [_fault(each) for each in fleet.faults]
    return yaml.dump(document, Dumper=_Plain, sort_keys=False)


class _Plain(yaml.SafeDumper):
    """Writes what is said twice out twice: an alias is harder to read than a model."""

    def ignore_aliases(self, data: object) -> bool:
        del data
        return True


def _pool(pool: Pool) -> dict[str, object]:
    keys: dict[str, object] = {
        "name": pool.name,
        "nodes": pool.nodes,
        "nodeNames": list(pool.node_names),
        "accelerator": spelled_out(pool.accelerator) if pool.accelerator else None,
        "resource": pool.resource,
        "alias": pool.alias,
        "dialect": pool.dialect if pool.dialect != "official" else None,
        "count": pool.count,
        "numa": list(pool.numa),
        **_settings(pool),
        "partitions": _partitions(pool.partitions) if pool.partitions else None,
        "preStart": pool.pre_start,
        "healthPolicy": None if pool.sticky is None else _policy(sticky=pool.sticky),
        "load": None if pool.load is None else {"utilization": pool.load},
        "taint": pool.taint,
    }
    # A count of 0 says something; an empty list or a false does not.
    return {key: value for key, value in keys.items() if value or key == "count"}


def _policy(*, sticky: bool) -> str:
    return "sticky" if sticky else "recovers"


def _settings(pool: Pool) -> dict[str, object]:
    """Return what NVIDIA's plugin takes from its file: as that file where there is one."""
    if pool.nvidia_config is not None:
        return {"nvidiaConfig": pool.nvidia_config}
    return {
        "sharing": _sharing(pool.sharing) if pool.sharing else None,
        "answering": _answering(pool.answering),
    }


def _sharing(sharing: Sharing) -> dict[str, object]:
    if sharing.strategy == "percentage":
        return {"strategy": sharing.strategy, "memoryUnitMiB": sharing.memory_unit_mib}
    return {
        "strategy": sharing.strategy,
        "replicas": sharing.replicas,
        "rename": sharing.rename,
        "failRequestsGreaterThanOne": sharing.fail_above_one,
    }


def _partitions(partitions: Partitions) -> dict[str, object]:
    alike: dict[tuple[str, ...], list[int]] = {}
    for index, cut in sorted(partitions.layout.items()):
        alike.setdefault(cut, []).append(index)
    layout = [
        {"devices": devices, "profiles": dict(Counter(cut))} for cut, devices in alike.items()
    ]
    return {"strategy": partitions.strategy, "layout": layout}


def _answering(answering: Answering) -> dict[str, object]:
    keys: dict[str, object] = {
        "deviceListStrategy": list(answering.list_strategies),
        "deviceIDStrategy": answering.id_strategy,
        "passDeviceSpecs": answering.pass_device_specs,
        "sharedDevicesAllocationPolicy": answering.replica_policy,
        "cdiAnnotationPrefix": answering.cdi_annotation_prefix,
        "gdsEnabled": answering.gds,
        "mofedEnabled": answering.mofed,
        "gdrcopyEnabled": answering.gdrcopy,
    }
    return {} if answering == Answering() else keys


def _flap(each: NodeFlap) -> dict[str, object]:
    flap = each.flap
    return {
        "every" if flap.repeats else "at": wording.duration(flap.seconds),
        "node": each.member,
        "device": flap.device,
        "becomes": flap.becomes,
        **wording.reason(flap.breakage),
    }


def _fault(each: NodeFault) -> dict[str, object]:
    return {**({"node": each.member} if each.member else {}), **wording.fault(each.fault)}
