"""The image of the fake device plugin, made small: it is streamed into every node of a lab."""

from lab.images.plugin.image import PluginImage, build_plugin_image

__all__ = ["PluginImage", "build_plugin_image"]
