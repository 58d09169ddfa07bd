"""What the operator's module holds beside its programs: read when it is built, never kept here."""

import json
import shutil
from pathlib import Path
from typing import Final

from lab.core.errors import CheckFailed
from lab.images.compiler import Compiler
from lab.images.operator.versions import MODULE, MODULE_VERSION
from lab.images.store import Making, Part

#: The folders of the product: helm's chart, what goes into the operator's image, and the pods that
#: the validator starts.
CHART: Final = "gpu-operator"
OPERATOR_FILES: Final = "operator"
VALIDATOR_FILES: Final = "validator"
_CHART: Final = "deployments/gpu-operator"
#: Where each is in the module, and in the product. The recipe is its docker/Dockerfile.
_FOLDERS: Final = {
    _CHART: CHART,
    "assets": OPERATOR_FILES,
    "manifests": f"{OPERATOR_FILES}/manifests",
}
_CRDS: Final = ("crds", "charts/node-feature-discovery/crds")


def sources_part(compiler: Compiler) -> Part:
    """Return the part whose product holds the folders above."""

    def make(making: Making) -> None:
        asked = f"{MODULE}@{MODULE_VERSION}"
        module = Path(json.loads(compiler.run(making, "mod", "download", "-json", asked))["Dir"])
        for name, target in _FOLDERS.items():
            shutil.copytree(_there(module / name), making.folder / target)
        for folder in _CRDS:
            for each in _there(module / _CHART / folder).glob("*.yaml"):
                shutil.copy(each, making.folder / OPERATOR_FILES)
        (making.folder / VALIDATOR_FILES).mkdir()
        for each in _there(module / "validator").glob("*.yaml"):
            shutil.copy(each, making.folder / VALIDATOR_FILES)
        _let_be_changed(making.folder)

    inputs = (*(text for pair in _FOLDERS.items() for text in pair), *_CRDS)
    title = "Read the operator's chart"
    return Part("gpu-operator-files", title, MODULE_VERSION, inputs, make)


def _there(folder: Path) -> Path:
    if not folder.is_dir():
        raise CheckFailed(
            f"the module {MODULE} is not as the build expects it",
            where=f"{MODULE}@{MODULE_VERSION}",
            seen=f"there is no folder {folder.name}",
            remedy="this gpu-lab and this version do not fit together: please report it",
        )
    return folder


def _let_be_changed(folder: Path) -> None:
    # Go keeps modules so that nobody can write to them; what is ours has to be removable.
    for each in (folder, *folder.rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)
