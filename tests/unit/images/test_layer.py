"""Layers that are the same wherever they are written."""

import hashlib
import tarfile
from pathlib import Path

from lab.images.layer import Layer, new_layer
from tests.unit.images.machine import Tar


def test_parent_folders_come_by_themselves(tmp_path: Path) -> None:
    """A deep file brings each folder above it once, and before itself."""
    with new_layer(tmp_path / "layer.tar") as layer:
        layer.text("a/b/one", "1")
        layer.text("a/b/two", "2")
    with tarfile.open(tmp_path / "layer.tar") as tar:
        assert tar.getnames() == ["a", "a/b", "a/b/one", "a/b/two"]


def test_everything_belongs_to_root(tmp_path: Path) -> None:
    """Neither the builder nor the time of building is in a layer."""
    source = tmp_path / "program"
    source.write_text("x")
    with new_layer(tmp_path / "layer.tar") as layer:
        layer.file("usr/bin/program", source, 0o755)
        layer.link("usr/bin/other", "program")
        layer.folder("tmp", 0o1777)
    found = Tar.read(tmp_path / "layer.tar").entries
    assert {(each.uid, each.gid, each.uname, each.mtime) for each in found.values()} == {
        (0, 0, "root", 0)
    }
    assert found["usr/bin/program"].mode == 0o755
    assert found["usr/bin/other"].linkname == "program"
    assert found["tmp"].mode == 0o1777


def test_tree_keeps_modes_and_links(tmp_path: Path) -> None:
    """A folder is copied as it is, in an order of its own."""
    tree = tmp_path / "tree"
    (tree / "bin").mkdir(parents=True)
    (tree / "bin" / "run").write_text("go")
    (tree / "bin" / "run").chmod(0o755)
    (tree / "also").symlink_to("bin/run")
    with new_layer(tmp_path / "layer.tar") as layer:
        layer.tree("opt", tree)
    tar = Tar.read(tmp_path / "layer.tar")
    assert tar.names == ["opt", "opt/also", "opt/bin", "opt/bin/run"]
    assert tar.entries["opt/bin/run"].mode == 0o755
    assert tar.entries["opt/also"].linkname == "bin/run"
    assert tar.text("opt/bin/run") == "go"


def test_same_content_is_the_same_layer(tmp_path: Path) -> None:
    """A digest depends on what is in a layer alone."""
    for name in ("one", "two"):
        with new_layer(tmp_path / name) as layer:
            layer.text("etc/file", "text")
    assert Layer.of(tmp_path / "one").digest == Layer.of(tmp_path / "two").digest


def test_digest_is_that_of_the_file(tmp_path: Path) -> None:
    """Engines compare it with what they read."""
    tar = tmp_path / "layer.tar"
    tar.write_bytes(b"layer")
    assert Layer.of(tar) == Layer(tar, hashlib.sha256(b"layer").hexdigest())
