"""Our own files that go into a node image: manifests, configuration, shell scripts."""

from importlib.resources import files


def node_file(name: str) -> str:
    """Return the text of one of our own files in `data`."""
    return (files("lab.images.node") / "data" / name).read_text()
