"""The versions that the operator is built at: the one place where they are written."""

from typing import Final

MODULE: Final = "github.com/NVIDIA/gpu-operator"
#: The newest that module proxies serve: its tags are no versions that Go would take.
MODULE_VERSION: Final = "v0.0.0-20250917190837-d73a0086a6ba"
#: The release that it is (its versions.mk).
RELEASE: Final = "v25.3.4"
HELM: Final = "v3.22.0"
