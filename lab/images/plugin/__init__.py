"""The image of the fake device plugin, made small: it is streamed into every node of a lab."""

from lab.images.plugin.engine_build import PYTHON_IMAGE
from lab.images.plugin.image import PluginImage, build_plugin_image, needs_registry

__all__ = ["PYTHON_IMAGE", "PluginImage", "build_plugin_image", "needs_registry"]
