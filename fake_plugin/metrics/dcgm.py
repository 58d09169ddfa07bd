"""The metrics of NVIDIA's dcgm-exporter.

Labels come in the exporter's order (internal/pkg/rendermetrics), then labels of the GPU and of the
pod, each sorted by name. A GPU that several pods share is put down to one of them, the last that
the kubelet lists: that is what the exporter does unless told otherwise (issue #201). All rows are
those of GPUs; the exporter writes rows of NVLinks, with labels of other names, only for fields
that neither list has.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from fake_plugin.hardware.driver import DRIVERS
from fake_plugin.hardware.gpu_instances import gpu_instance_ids
from fake_plugin.hardware.reading import Reading
from fake_plugin.metrics.dcgm_fields import FIELDS, Field
from fake_plugin.metrics.families import Family, Labels, Sample
from fake_plugin.metrics.history import History
from fake_plugin.metrics.style import Style

#: The texts of the codes that matter in a lab; the exporter knows more of them.
_XID_TEXTS: Final = {
    0: "No Error",
    13: "Graphics Engine Exception",
    31: "GPU memory page fault",
    43: "GPU stopped processing",
    48: "Double Bit ECC Error",
    63: "ECC page retirement or row remapping recording event",
    64: "ECC page retirement or row remapper recording failure",
    68: "NVDEC0 Exception",
    74: "NVLINK Error",
    79: "GPU has fallen off the bus",
    92: "High single-bit ECC error rate",
    94: "Contained ECC error",
    95: "Uncontained ECC error",
    109: "Context Switch Timeout Error",
    119: "GSP RPC Timeout",
    120: "GSP Error",
}
_OTHER_XID: Final = "Unknown Error"


def families(
    readings: Iterable[Reading], history: History, node: str, style: Style
) -> Iterator[Family]:
    """Return the families of the GPUs among the readings, in the exporter's order."""
    gpus = [each for each in readings if each.vendor == "nvidia"]
    answer = _Answer(node, style, history, gpu_instance_ids(gpus))
    for field in FIELDS:
        if style.fields in field.lists:
            yield Family(field.metric, _samples(field, gpus, answer), field.decimals)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the samples of all fields are made by; `instances` are by the names of MIG devices."""

    node: str
    style: Style
    history: History
    instances: Mapping[str, int]


def _samples(field: Field, gpus: Iterable[Reading], answer: _Answer) -> Iterator[Sample]:
    for gpu in gpus:
        if (gpu.partition and not field.instances) or (gpu.is_lost and not field.is_xid):
            continue
        value = field.value(gpu, answer.history)
        if value is not None:
            attributes = {**_pod(gpu), **(_xid(int(value)) if field.is_xid else {})}
            labels = (*_identity(gpu, answer), *sorted(attributes.items()))
            yield Sample(labels, value)


def _identity(gpu: Reading, answer: _Answer) -> Labels:
    card = gpu.card
    labels = [
        ("gpu", str(card.minor)),
        ("UUID", card.uid),
        ("pci_bus_id", f"0000{card.pci}".upper()),
        ("device", f"nvidia{card.minor}"),
        ("modelName", card.model.product if card.model else ""),
    ]
    if gpu.partition:
        labels.append(("GPU_I_PROFILE", gpu.partition.profile.name))
        labels.append(("GPU_I_ID", str(answer.instances[gpu.unit])))
    labels.append((answer.style.hostname, answer.node))
    if answer.style.fields == "operator":
        labels.append(("DCGM_FI_DRIVER_VERSION", DRIVERS["nvidia"][0]))
    return tuple(labels)


def _pod(gpu: Reading) -> dict[str, str]:
    if not gpu.holders:
        return {}
    holder = gpu.holders[-1]
    return {"container": holder.container, "namespace": holder.namespace, "pod": holder.pod}


def _xid(code: int) -> dict[str, str]:
    return {"err_code": str(code), "err_msg": _XID_TEXTS.get(code, _OTHER_XID)}
