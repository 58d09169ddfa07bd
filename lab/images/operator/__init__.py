"""NVIDIA's own operator built from its Go module, with its chart and helm, and no registry.

versions      what is built                  programs      operator, validator and helm
sources       its chart and other files      chart         the images that the chart asks for
image         the operator's two images      build         all of it, found again when made
"""

from lab.images.operator.build import ESTIMATED_TIME, OperatorBuild, build_operator

__all__ = ["ESTIMATED_TIME", "OperatorBuild", "build_operator"]
