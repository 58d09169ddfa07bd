"""The page about the catalogue: `python -m lab.core.catalogue.page` prints it.

`docs/reference/accelerators.md` is its committed output.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Final

from lab.core.catalogue import catalogue
from lab.core.catalogue.figure import Figure
from lab.core.catalogue.model import Cut, Model

_INTRODUCTION: Final = (
    "# Accelerators\n\n"
    "The models that `pools[].accelerator` of [a fleet](fleet.md) can name. Figures are of one "
    "device that a pod can ask for, without sparsity: where a package holds two, each has its own "
    "half. Rates are in TFLOPS, memory in GB, bandwidth in GB/s, power in W.\n\n"
    "- *unknown* is what no source was found for, or what sources contradict each other about. It "
    "is not 0, and nothing in the lab ranks by it: comparing it is an error.\n"
    "- *none* is arithmetic that the hardware does not have.\n"
    "- *~* marks a figure about which sources differ, *=* one that is computed from another.\n\n"
    "This page is made from the data by `python -m lab.core.catalogue.page`.\n"
)
_HEAD: Final = (
    "| name | product | architecture | FP16 | BF16 | FP8 | memory | MiB | bandwidth | power | "
    "per package |\n|---|---|---|---|---|---|---|---|---|---|---|"
)
_VENDORS: Final = {
    "nvidia": "NVIDIA",
    "amd": "AMD",
    "ascend": "Huawei Ascend",
    "other": "Others: figures only, a pool of them needs `resource`",
}
_MARKS: Final = {"disputed": "~", "derived": "="}
_RATES: Final = "TFLOPS"


def page() -> str:
    """Return the page as the published file holds it."""
    models = list(catalogue().values())
    parts = [_INTRODUCTION]
    for vendor, title in _VENDORS.items():
        parts += _of_vendor(title, [model for model in models if model.vendor == vendor])
    parts += ["## Sources\n", *_sources(models)]
    return "\n".join(parts)


def _of_vendor(title: str, models: Iterable[Model]) -> Iterator[str]:
    yield f"## {title}\n\n{_HEAD}"
    models = tuple(models)
    yield from (_row(model) for model in models)
    cuts: dict[int, tuple[Cut, list[str]]] = {}
    for model in models:
        if model.cut:
            cuts.setdefault(id(model.cut), (model.cut, []))[1].append(f"`{model.name}`")
    if cuts:
        yield "\n| models | compute, memory | profile x most (compute, memory) | layouts |"
        yield "|---|---|---|---|"
    yield from (_cut_row(cut, names) for cut, names in cuts.values())
    yield ""


def _row(model: Model) -> str:
    figures = (model.fp16, model.bf16, model.fp8, model.memory)
    cells = [
        f"`{model.name}`",
        model.product,
        model.architecture,
        *(_shown(each) for each in (*figures, model.memory_mib, model.bandwidth, model.power)),
        str(model.devices_per_package),
    ]
    return f"| {' | '.join(cells)} |"


def _shown(figure: Figure) -> str:
    value = figure.known()
    if value is None:
        return "unknown"
    number = "none" if value == 0 and figure.unit == _RATES else f"{value:.10g}"
    return _MARKS.get(figure.confidence, "") + number


def _cut_row(cut: Cut, names: Iterable[str]) -> str:
    profiles = ", ".join(
        f"{each.name} x {each.most} ({each.compute}, {each.memory})" for each in cut.profiles
    )
    layouts = "; ".join(
        f"{name}: {' + '.join(f'{number} x {profile}' for profile, number in layout.items())}"
        for name, layout in cut.layouts.items()
    )
    return f"| {', '.join(names)} | {cut.compute}, {cut.memory} | {profiles} | {layouts} |"


def _sources(models: Iterable[Model]) -> Iterator[str]:
    for model in models:
        named: dict[str, list[str]] = {}
        for label, figure in _labelled(model):
            if figure.is_known:
                named.setdefault(figure.source, []).append(label)
        listed = "; ".join(f"{', '.join(labels)}: {source}" for source, labels in named.items())
        yield f"- `{model.name}`: {listed or 'none'}"
    yield ""


def _labelled(model: Model) -> Iterator[tuple[str, Figure]]:
    yield from (("FP16", model.fp16), ("BF16", model.bf16), ("FP8", model.fp8))
    yield from (("memory", model.memory), ("MiB", model.memory_mib))
    yield from (("bandwidth", model.bandwidth), ("power", model.power))


if __name__ == "__main__":
    sys.stdout.write(page())
