"""The catalogue: figures of the right kind, cuts that are possible, a page that agrees."""

import subprocess
import sys
from pathlib import Path

import pytest

from fake_plugin.hardware.partition_rules import broken_card_rule
from lab.core.catalogue import Figure, Model, catalogue, closest
from lab.core.catalogue.page import page

ROOT = Path(__file__).parents[3]
MODELS = list(catalogue().values())
CUT = [model for model in MODELS if model.cut]
UNITS = {
    "fp16": "TFLOPS",
    "bf16": "TFLOPS",
    "fp8": "TFLOPS",
    "memory": "GB",
    "bandwidth": "GB/s",
    "memory_mib": "MiB",
    "power": "W",
}
EVERY = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
EVERY_CUT = pytest.mark.parametrize("model", CUT, ids=lambda model: model.name)


def figures(model: Model) -> dict[str, Figure]:
    """Return the figures of a model by their names."""
    return {name: getattr(model, name) for name in UNITS}


def test_catalogue_is_there() -> None:
    """The tables below have rows, and a name stands for one model."""
    assert len(MODELS) == 39
    assert len(CUT) == 24
    assert {model.vendor for model in MODELS} == {"nvidia", "amd", "ascend", "other"}


@EVERY
def test_a_figure_has_its_unit_and_a_source(model: Model) -> None:
    """What is unknown has no confidence, and what is known has some."""
    for name, figure in figures(model).items():
        assert figure.unit == UNITS[name]
        assert figure.source
        assert figure.is_known == (figure.confidence != "none")
        assert figure.dense in ({True, None} if name in {"fp16", "bf16", "fp8"} else {None})


@EVERY
def test_rates_that_are_known_are_dense(model: Model) -> None:
    """Marketing counts twice what sparsity leaves out; the catalogue does not."""
    rates = (model.fp16, model.bf16, model.fp8)
    assert all(rate.dense for rate in rates if rate.is_known)


@EVERY
def test_fp8_is_twice_fp16_or_none(model: Model) -> None:
    """An FP8 rate that is four times the other is a sparse one that slipped in."""
    fp8, fp16 = model.fp8.known(), model.fp16.known()
    assert not fp8 or fp16 is None or fp8 == pytest.approx(2 * fp16, rel=0.03)


@pytest.mark.parametrize(
    ("name", "figure", "value"),
    [
        ("nvidia-h100-sxm-80gb", "fp16", 989),
        ("nvidia-h100-sxm-80gb", "memory_mib", 81559),
        ("nvidia-h100-pcie-80gb", "fp8", 1513),
        ("nvidia-a100-sxm-40gb", "fp8", 0),
        ("nvidia-a100-pcie-80gb", "bandwidth", 1935),
        ("amd-mi250x-64gb", "fp16", 191.5),
        ("amd-mi300x-192gb", "fp8", 2615),
        ("ascend-910a-32gb", "bf16", 0),
        ("ascend-910c-64gb", "fp16", 376),
        ("ascend-310p3-24gb", "memory_mib", 21527),
        ("amd-mi210-64gb", "bandwidth", None),
        ("ascend-310p3-24gb", "fp16", None),
        ("cambricon-mlu590", "memory", None),
        ("hygon-k100", "memory", None),
    ],
)
def test_figure_of_a_model(name: str, figure: str, value: float | None) -> None:
    """Samples of the table that the data was made from, unknown ones among them."""
    assert figures(catalogue()[name])[figure].known() == value


def test_packages_of_two_are_told() -> None:
    """One package is two devices in these, and their figures are halves."""
    assert [model.name for model in MODELS if model.devices_per_package == 2] == [
        "amd-mi250x-64gb",
        "ascend-910c-64gb",
        "nvidia-gb200-186gb",
        "nvidia-gb300-278gb",
        "cambricon-mlu370-x8-24gb",
    ]


@EVERY_CUT
def test_every_profile_fits_as_often_as_it_says(model: Model) -> None:
    """The most of a profile is within the sums, and one more is not."""
    accelerator = model.accelerator()
    assert accelerator
    for profile in accelerator.profiles:
        assert broken_card_rule(accelerator, [profile.name] * profile.most) is None
        assert broken_card_rule(accelerator, [profile.name] * (profile.most + 1))


@EVERY_CUT
def test_partitions_have_no_more_memory_than_their_card(model: Model) -> None:
    """What is known of a profile's memory is within the card's, as often as it fits."""
    accelerator = model.accelerator()
    assert accelerator
    for profile in accelerator.profiles:
        if profile.memory_mib and accelerator.memory_mib:
            assert profile.memory_mib * profile.most <= accelerator.memory_mib


@EVERY_CUT
def test_every_named_layout_fits(model: Model) -> None:
    """All-balanced takes all slices of compute and of memory."""
    cut, accelerator = model.cut, model.accelerator()
    assert cut
    assert accelerator
    for layout in cut.layouts.values():
        names = [name for name, number in layout.items() for _ in range(number)]
        profiles = [accelerator.profile(name) for name in names]
        assert broken_card_rule(accelerator, names) is None
        assert sum(each.compute for each in profiles if each) == 7
        assert sum(each.memory for each in profiles if each) == 8


def test_all_balanced_is_that_of_the_mig_manager() -> None:
    """Source: mig-parted, default configuration."""
    cut = catalogue()["nvidia-a100-sxm-40gb"].cut
    assert cut
    assert cut.layouts == {"all-balanced": {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}}


def test_modes_of_amd_are_those_that_its_driver_takes() -> None:
    """Source: Linux, drivers/gpu/drm/amd/amdgpu/aqua_vanjaram.c."""
    cut = catalogue()["amd-mi300x-192gb"].cut
    assert cut
    modes = {profile.name: profile.most for profile in cut.profiles}
    assert modes == {
        "spx_nps1": 1,
        "dpx_nps1": 2,
        "dpx_nps2": 2,
        "qpx_nps1": 4,
        "qpx_nps4": 4,
        "cpx_nps1": 8,
        "cpx_nps4": 8,
    }


@EVERY
def test_a_model_of_another_vendor_has_no_plugin(model: Model) -> None:
    """What a node is told of a model leaves out what is not known."""
    accelerator = model.accelerator()
    assert (accelerator is None) == (model.vendor == "other")
    if accelerator:
        assert accelerator.memory_mib == model.memory_mib.known()


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("h200", ["nvidia-h200-sxm-141gb"]),
        ("H100 SXM", ["nvidia-h100-sxm-80gb"]),
        ("nvidia-h100-sxm-80b", ["nvidia-h100-sxm-80gb"]),
        ("amd-mi300-192gb", ["amd-mi300x-192gb"]),
        ("910b3", ["ascend-910b3-64gb"]),
    ],
)
def test_closest_finds_what_was_meant(name: str, names: list[str]) -> None:
    """A part of a name, or one with a slip in it, leads to the right one first."""
    assert closest(name)[: len(names)] == names


def test_published_page_is_current() -> None:
    """`python -m lab.core.catalogue.page` prints what is committed."""
    assert (ROOT / "docs/reference/accelerators.md").read_text() == page()


def test_page_has_a_row_for_each_model() -> None:
    """A reader finds every name that a fleet can use."""
    assert all(page().count(f"| `{model.name}` |") >= 1 for model in MODELS)


def test_catalogue_is_read_when_it_is_asked() -> None:
    """The command line shows its help within 150 ms, without PyYAML and pydantic."""
    program = (
        "import sys, lab.core.catalogue;"
        "print([name for name in ('pydantic', 'yaml') if name in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "[]"
