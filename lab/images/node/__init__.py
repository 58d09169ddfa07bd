"""A kind node image built from source, for machines that no container registry answers."""

from lab.images.node.factory import (
    ESTIMATED_TIME,
    NodeImage,
    build_node_image,
    node_image_reference,
)

__all__ = ["ESTIMATED_TIME", "NodeImage", "build_node_image", "node_image_reference"]
