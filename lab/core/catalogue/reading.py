"""The data of the catalogue, read into values. A mistake in it is a bug, and fails a test."""

from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from fake_plugin.files.document import SafeLoader
from fake_plugin.hardware.accelerator import Profile
from lab.core.catalogue.figure import UNKNOWN, Confidence, Figure
from lab.core.catalogue.model import Cut, Model, Vendor


class _Data(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, populate_by_name=True
    )


class _Figure(_Data):
    value: float | Literal["unknown"]
    dense: bool | None
    unit: str
    source: str
    confidence: Confidence


class _Profile(_Data):
    name: str
    most: int
    compute: int
    memory: int
    memory_mib: int | Literal["unknown"] = Field(alias="memoryMiB")


class _Cut(_Data):
    compute: int
    memory: int
    profiles: list[_Profile]
    layouts: dict[str, dict[str, int]]


class _Model(_Data):
    name: str
    product: str
    architecture: str
    devices_per_package: int
    cut: str | None = None
    fp16: _Figure
    bf16: _Figure
    fp8: _Figure
    memory: _Figure
    bandwidth: _Figure
    memory_mib: _Figure = Field(alias="memoryMiB")
    power: _Figure


class _File(_Data):
    vendor: Vendor
    sources: dict[str, str]
    cuts: dict[str, _Cut]
    models: list[_Model]


def read_models() -> Iterator[Model]:
    """Yield the models of every vendor, in the order of the files' names."""
    folder = resources.files("lab.core.catalogue").joinpath("data")
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        data = yaml.load(file.read_text(encoding="utf-8"), SafeLoader)  # noqa: S506 - it is safe
        yield from _models(_File.model_validate(data))


def _models(data: _File) -> Iterator[Model]:
    cuts = {name: _cut(cut) for name, cut in data.cuts.items()}
    for model in data.models:
        yield Model(
            model.name,
            data.vendor,
            model.product,
            model.architecture,
            model.devices_per_package,
            fp16=_figure(model.fp16, data.sources),
            bf16=_figure(model.bf16, data.sources),
            fp8=_figure(model.fp8, data.sources),
            memory=_figure(model.memory, data.sources),
            bandwidth=_figure(model.bandwidth, data.sources),
            memory_mib=_figure(model.memory_mib, data.sources),
            power=_figure(model.power, data.sources),
            cut=cuts[model.cut] if model.cut else None,
        )


def _figure(figure: _Figure, sources: Mapping[str, str]) -> Figure:
    value = UNKNOWN if figure.value == "unknown" else figure.value
    source = sources[figure.source]
    return Figure(value, figure.unit, source, figure.confidence, figure.dense)


def _cut(cut: _Cut) -> Cut:
    profiles = (
        Profile(
            each.name,
            each.most,
            each.compute,
            each.memory,
            None if each.memory_mib == "unknown" else each.memory_mib,
        )
        for each in cut.profiles
    )
    return Cut(cut.compute, cut.memory, tuple(profiles), cut.layouts)
