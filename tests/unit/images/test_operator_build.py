"""The operator, built by stand-ins for Go and mmdebstrap from a module of next to nothing."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.core.errors import CheckFailed, NotReady
from lab.core.progress import Progress
from lab.host.processes import Processes
from lab.images.operator import OperatorBuild, build_operator
from lab.images.operator.versions import HELM, MODULE, MODULE_VERSION
from tests.unit.images.machine import ImageMachine, Tar
from tests.unit.images.operator_module import CHART, write_module

Build = Callable[[], OperatorBuild]


@pytest.fixture
def module(machine: ImageMachine, tmp_path: Path) -> Path:
    """Return the module that Go says it has."""
    folder = write_module(tmp_path / "module")
    machine.environment.setenv("KIND", str(folder))
    return folder


@pytest.fixture
def build(machine: ImageMachine, module: Path, progress: Progress) -> Build:  # noqa: ARG001
    """Return what builds the operator."""
    return lambda: build_operator(Processes(), machine.folders, progress)


def image(archive: Path, reference: str) -> tuple[dict[str, Any], list[Tar]]:
    """Return the configuration of an image of an archive, and its layers."""
    found = Tar.read(archive)
    (entry,) = (
        each for each in json.loads(found.text("manifest.json")) if each["RepoTags"] == [reference]
    )
    layers = [Tar.read(found.files[name]) for name in entry["Layers"]]
    return json.loads(found.text(entry["Config"]))["config"], layers


def test_programs_come_from_their_modules_at_one_version(
    build: Build, machine: ImageMachine
) -> None:
    """The operator with its validator at once, and helm; nothing is compiled with C."""
    built = build()
    operator, helm = machine.called("go install")
    assert operator.endswith(
        f" {MODULE}/cmd/gpu-operator@{MODULE_VERSION} {MODULE}/validator@{MODULE_VERSION}"
    )
    assert helm.endswith(f" helm.sh/helm/v3/cmd/helm@{HELM}")
    assert built.helm.read_text() == "program\n"
    assert machine.called("go mod") == [f"go mod download -json {MODULE}@{MODULE_VERSION}"]


def test_the_chart_is_the_modules_own(build: Build) -> None:
    """With the one within it, and such that helm and the user can write beside it."""
    chart = build().chart
    assert (chart / "Chart.yaml").read_text() == "appVersion: devel"
    assert (chart / "charts" / "node-feature-discovery" / "Chart.yaml").exists()
    assert chart.stat().st_mode & 0o777 == 0o755
    assert (chart / "values.yaml").stat().st_mode & 0o777 == 0o644


def test_the_operators_image_is_laid_out_as_its_recipe_says(build: Build) -> None:
    """Its manifests and the definitions of its kinds are where it looks for them."""
    config, layers = image(build().archive, "example.com/operator:devel")
    assert config["Entrypoint"] == ["/usr/bin/gpu-operator"]
    own = layers[1]
    assert own.text("usr/bin/gpu-operator") == "program\n"
    assert sorted(name for name in own.files if name.startswith("opt/")) == [
        "opt/gpu-operator/manifests/state-driver/0500_daemonset.yaml",
        "opt/gpu-operator/nfd.yaml",
        "opt/gpu-operator/policies.yaml",
        "opt/gpu-operator/state-driver/0500_daemonset.yaml",
    ]
    assert own.entries["bin/sh"].linkname == "busybox"
    assert "./bin/busybox" in layers[0].entries


def test_the_validators_image_has_the_pods_that_it_starts(build: Build) -> None:
    """And no source; pods call it by the name that it has there."""
    _, (_, own) = image(build().archive, "example.com/cloud/validator:devel")
    assert [name for name in own.files if name.startswith(("usr/", "var/"))] == [
        "usr/bin/nvidia-validator",
        "var/nvidia/manifests/cuda-workload-validation.yaml",
    ]
    assert own.entries["usr/bin/nvidia-validator"].mode == 0o755


def test_what_is_built_is_found_again_without_a_program(
    build: Build, machine: ImageMachine, module: Path
) -> None:
    """Also where neither Go nor the module is there any more."""
    first = build()
    machine.environment.setenv("PATH", "/nowhere")
    shutil.rmtree(module)
    machine.calls.unlink()
    assert build() == first
    assert not machine.calls.exists()


def test_a_build_goes_on_where_it_was(build: Build, machine: ImageMachine, tmp_path: Path) -> None:
    """What was made before it failed is not made again, and nothing half made is left."""
    machine.environment.setenv("GO_FAILS", "dial tcp: lookup modules.example: no such host")
    with pytest.raises(NotReady, match="could not do what the build asks of it") as raised:
        build()
    assert raised.value.seen == "dial tcp: lookup modules.example: no such host"
    machine.environment.setenv("GO_FAILS", "")
    machine.environment.setenv("MMDEBSTRAP_FAILS", "E: no mirror")
    with pytest.raises(NotReady, match="mmdebstrap could not make a file system"):
        build()
    machine.environment.setenv("MMDEBSTRAP_FAILS", "")
    machine.environment.setenv("KIND", str(tmp_path / "gone"))
    assert build().archive.exists()
    assert machine.left_over() == []


def test_without_mmdebstrap_nothing_is_begun(build: Build, machine: ImageMachine) -> None:
    """It is known before minutes are spent on compiling."""
    (machine.calls.parent / "bin" / "mmdebstrap").unlink()
    with pytest.raises(NotReady, match="the program mmdebstrap is missing"):
        build()
    assert machine.called("go") == []


def test_a_module_of_another_shape_is_refused(build: Build, module: Path) -> None:
    """Its version and the recipe belong together."""
    (module / "validator").rename(module / "checker")
    with pytest.raises(CheckFailed) as raised:
        build()
    assert raised.value.render() == (
        f"the module {MODULE} is not as the build expects it\n"
        f"  where: {MODULE}@{MODULE_VERSION}\n"
        "  seen:  there is no folder validator\n"
        "  next:  this gpu-lab and this version do not fit together: please report it"
    )


def test_the_chart_tells_which_images_it_asks_for(build: Build) -> None:
    """Each by its place in the values; those without a tag have that of the chart."""
    assert {each.component: each.reference for each in build().images} == {
        "validator": "example.com/cloud/validator:devel",
        "operator": "example.com/operator:devel",
        "operator.initContainer": "example.com/cuda:13.0",
        "driver": "example.com/driver:580.1",
        "driver.manager": "example.com/cloud/manager:v0.8",
        "nfd": "example.com/nfd:v0.17.3",
    }


def test_a_chart_without_images_is_refused(build: Build, module: Path) -> None:
    """Nothing could be loaded for it."""
    values = module / CHART / "values.yaml"
    values.chmod(0o644)
    values.write_text("operator: {}")
    with pytest.raises(CheckFailed, match="the chart names no images"):
        build()
