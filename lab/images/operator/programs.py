"""The operator's programs, and helm, compiled from their Go modules."""

from typing import Final

from lab.images.compiler import Compiler, linked, module_part
from lab.images.operator.versions import HELM, MODULE, MODULE_VERSION, RELEASE
from lab.images.store import Part

OPERATOR: Final = "gpu-operator"
#: As Go names it, after its folder; in its image it is `nvidia-validator`.
VALIDATOR: Final = "validator"


def operator_part(compiler: Compiler) -> Part:
    """Return the part with the programs `gpu-operator` and `validator`."""
    packages = [f"{MODULE}/cmd/{OPERATOR}", f"{MODULE}/{VALIDATOR}"]
    flags = linked(f"-X {MODULE}/internal/info.version={RELEASE}")
    return module_part(compiler, OPERATOR, MODULE_VERSION, packages, flags)


def helm_part(compiler: Compiler) -> Part:
    """Return the part with the program `helm`."""
    facts = f"-X helm.sh/helm/v3/internal/version.version={HELM}"
    return module_part(compiler, "helm", HELM, ["helm.sh/helm/v3/cmd/helm"], linked(facts))
