"""What is written to the folder of CDI specs, what is removed from it, and what is left alone."""

import json
import os
import stat
import time
from pathlib import Path

import pytest

from fake_plugin.cdi.folder import CdiFolder, file_name
from fake_plugin.cdi.found import MARK
from fake_plugin.cdi.rules import check
from fake_plugin.cdi.spec import DeviceNode, Edits, Mount, Spec, build
from fake_plugin.errors import NotReady

ROOT = Path(__file__).parents[4]
PROGRAM = Edits(mounts=(Mount("/opt/smi", "/usr/bin/nvidia-smi"),))
THEIRS = """
---
cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
- name: {name}
  containerEdits: {{env: [A=b]}}
"""


def gpus(*names: str, class_: str = "gpu") -> Spec:
    """Return a spec of these devices."""
    node = Edits(device_nodes=(DeviceNode("/dev/nvidia0", "/dev/null"),))
    return build("nvidia.com", class_, dict.fromkeys(names, node), PROGRAM)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a folder that is not there yet."""
    return tmp_path / "run" / "cdi"


@pytest.fixture
def cdi(path: Path) -> CdiFolder:
    """Return the folder of a plugin that has just started."""
    return CdiFolder(path)


def names_in(path: Path) -> list[str]:
    """Return the names of all files in a folder."""
    return sorted(file.name for file in path.iterdir())


def put(path: Path, name: str, text: str) -> Path:
    """Write a file as somebody else does."""
    path.mkdir(parents=True, exist_ok=True)
    (path / name).write_text(text, encoding="utf-8")
    return path / name


@pytest.mark.parametrize(
    ("kind", "name"),
    [("nvidia.com/gpu", "nvidia.com-gpu.json"), ("a.b-c/d.e", "a.b-c-d.e.json")],
)
def test_a_file_is_named_after_its_kind(kind: str, name: str) -> None:
    """The names are those that the tools of the Go library choose."""
    assert file_name(kind) == name


def test_a_spec_is_written_and_marked(cdi: CdiFolder, path: Path) -> None:
    """The file is right, says who wrote it, and can be read by everybody."""
    written = cdi.write(gpus("GPU-0"))
    document = json.loads(written.read_text(encoding="utf-8"))
    assert check(document) == []
    assert document == gpus("GPU-0").document() | {
        "cdiVersion": "0.6.0",
        "annotations": {MARK: "fake-plugin"},
    }
    assert stat.S_IMODE(written.stat().st_mode) == 0o644
    assert names_in(path) == ["nvidia.com-gpu.json"]


def test_a_second_write_replaces_the_first(cdi: CdiFolder, path: Path) -> None:
    """What was unplugged is gone, and nothing is left beside the file."""
    cdi.write(gpus("GPU-0", "GPU-1"))
    cdi.write(gpus("GPU-1"))
    assert "GPU-0" not in (path / "nvidia.com-gpu.json").read_text(encoding="utf-8")
    assert names_in(path) == ["nvidia.com-gpu.json"]


def test_a_file_is_never_seen_half_written(
    cdi: CdiFolder, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the whole text is on the disk, the file is the old one."""
    seen: list[str] = []
    written = cdi.write(gpus("GPU-0"))
    before = written.read_text(encoding="utf-8")
    monkeypatch.setattr(os, "fsync", lambda _: seen.append(written.read_text(encoding="utf-8")))
    cdi.write(gpus("GPU-1"))
    assert seen == [before]
    assert written.read_text(encoding="utf-8") != before
    assert names_in(path) == ["nvidia.com-gpu.json"]


def test_a_disk_that_is_full_changes_nothing(
    cdi: CdiFolder, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old file stays, and no unfinished one beside it."""
    before = cdi.write(gpus("GPU-0")).read_text(encoding="utf-8")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(NotReady) as caught:
        cdi.write(gpus("GPU-1"))
    assert caught.value.seen == "No space left on device"
    assert names_in(path) == ["nvidia.com-gpu.json"]
    assert (path / "nvidia.com-gpu.json").read_text(encoding="utf-8") == before


def test_a_spec_that_breaks_rules_is_not_written(cdi: CdiFolder, path: Path) -> None:
    """The error names rules and places, as many as a reader can take in."""
    with pytest.raises(NotReady) as caught:
        cdi.write(gpus("-", "/", "@", "="))
    assert caught.value.what == "the CDI spec breaks rules: the container runtime would not load it"
    assert caught.value.where == str(path / "nvidia.com-gpu.json")
    assert caught.value.seen.startswith("devices[1].name: '-' must have letters, digits")
    assert caught.value.seen.endswith("[device-name]; and 1 more")
    assert not path.exists()


def test_three_violations_are_all_that_is_said(cdi: CdiFolder) -> None:
    """Of no more there is no word."""
    with pytest.raises(NotReady) as caught:
        cdi.write(gpus("-", "/", "@"))
    assert caught.value.seen.count("[device-name]") == 3
    assert caught.value.seen.endswith("[device-name]")


def test_a_folder_that_cannot_be_is_an_error(tmp_path: Path) -> None:
    """The error names the folder and the way out."""
    file = put(tmp_path, "cdi", "")
    with pytest.raises(NotReady) as caught:
        CdiFolder(file).write(gpus("GPU-0"))
    assert caught.value.what == "the folder of CDI specs cannot be read"
    assert caught.value.facts() == {
        "where": str(file),
        "seen": "Not a directory",
        "remedy": "mount the folder into the container, and run as its owner",
    }


@pytest.mark.parametrize("name", ["nvidia.yaml", "nvidia.json"])
@pytest.mark.parametrize("device", ["GPU-0", "all"])
def test_a_device_of_another_file_is_a_conflict(
    cdi: CdiFolder, path: Path, name: str, device: str
) -> None:
    """With two definitions of equal priority, a runtime gives the device to nobody."""
    other = put(path, name, THEIRS.format(name=device))
    with pytest.raises(NotReady) as caught:
        cdi.write(gpus("GPU-0"))
    assert caught.value.what == (
        f"another CDI file defines the device nvidia.com/gpu={device} already: "
        "no container could get it"
    )
    assert caught.value.where == str(other)
    assert "stop the software that wrote that file" in caught.value.remedy
    assert names_in(path) == [name]


def test_a_number_as_a_name_is_a_conflict(cdi: CdiFolder, path: Path) -> None:
    """Runtimes read an index without quotes as the text that it looks like."""
    put(path, "nvidia.yaml", THEIRS.format(name="0"))
    with pytest.raises(NotReady, match=r"nvidia\.com/gpu=0 already"):
        cdi.write(gpus("0"))


def test_a_conflict_says_how_many_devices_it_has(cdi: CdiFolder, path: Path) -> None:
    """Whoever knows the same GPU as well meets us in `all`, too."""
    put(path, "nvidia.json", json.dumps(gpus("GPU-0").document()))
    with pytest.raises(NotReady, match=r"nvidia\.com/gpu=GPU-0 and 1 more already"):
        cdi.write(gpus("GPU-0"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nvidia.yaml", THEIRS.format(name="GPU-7")),
        ("other.json", THEIRS.format(name="all").replace("nvidia.com/gpu", "amd.com/gpu")),
        ("nvidia.yaml.bak", THEIRS.format(name="all")),
        ("broken.json", "{"),
        ("list.json", "[]"),
        ("null.yaml", ""),
        ("devices.yaml", "kind: nvidia.com/gpu\ndevices: all\n"),
        ("names.yaml", "kind: nvidia.com/gpu\ndevices: [all, {name: [all]}, {}]\n"),
        ("binary.yaml", "\0"),
        ("tag.yaml", "kind: !!bool maybe"),
    ],
)
def test_other_files_are_no_conflict(cdi: CdiFolder, path: Path, name: str, text: str) -> None:
    """Other devices, other kinds, and what a runtime passes by."""
    put(path, name, text)
    cdi.write(gpus("GPU-0"))
    assert cdi.remove_leftovers() == []
    assert names_in(path) == sorted([name, "nvidia.com-gpu.json"])


def test_folders_are_passed_by(cdi: CdiFolder, path: Path) -> None:
    """Whatever they are called, and however old."""
    for name in ("nvidia.json", ".gpulab-1.tmp"):
        (path / name).mkdir(parents=True)
        os.utime(path / name, (time.time() - 61, time.time() - 61))
    cdi.write(gpus("GPU-0"))
    assert cdi.remove_leftovers() == []
    assert names_in(path) == [".gpulab-1.tmp", "nvidia.com-gpu.json", "nvidia.json"]


def test_a_file_of_our_name_may_be_anothers(cdi: CdiFolder, path: Path) -> None:
    """A name proves nothing: without our mark the file is left as it is."""
    text = THEIRS.format(name="GPU-7")
    put(path, "nvidia.com-gpu.json", text)
    with pytest.raises(NotReady) as caught:
        cdi.write(gpus("GPU-0"))
    assert caught.value.what == "the file of the CDI spec is another's"
    assert caught.value.seen == "it has no annotation gpu-lab/written-by: fake-plugin"
    assert (path / "nvidia.com-gpu.json").read_text(encoding="utf-8") == text


def test_what_was_written_is_removed(cdi: CdiFolder, path: Path) -> None:
    """The file goes with the devices; twice is once."""
    written = cdi.write(gpus("GPU-0"))
    cdi.write(gpus("MIG-0", class_="mig"))
    cdi.remove(written)
    cdi.remove(written)
    assert names_in(path) == ["nvidia.com-mig.json"]


def test_a_file_may_go_as_it_is_removed(
    cdi: CdiFolder, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who tidies up was quicker: it is gone, as was wanted."""
    written = cdi.write(gpus("GPU-0"))
    unlink = Path.unlink

    def late(file: Path, *, missing_ok: bool) -> None:
        unlink(file)
        unlink(file, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", late)
    cdi.remove(written)
    assert names_in(path) == []


def test_what_a_later_run_wrote_is_not_removed(cdi: CdiFolder, path: Path) -> None:
    """In a rolling update the new plugin writes before the old one ends."""
    written = cdi.write(gpus("GPU-0"))
    CdiFolder(path).write(gpus("GPU-0"))
    cdi.remove(written)
    assert names_in(path) == ["nvidia.com-gpu.json"]


def test_what_was_not_written_here_is_not_removed(cdi: CdiFolder, path: Path) -> None:
    """Only the paths that `write` returned are this plugin's to remove."""
    other = put(path, "nvidia.yaml", THEIRS.format(name="GPU-0"))
    cdi.remove(other)
    assert other.exists()


def test_an_earlier_run_is_taken_over(cdi: CdiFolder, path: Path) -> None:
    """What it left is no conflict, is replaced where it is written again, and else removed."""
    earlier = CdiFolder(path)
    earlier.write(gpus("GPU-0"))
    earlier.write(gpus("MIG-0", class_="mig"))
    put(path, "nvidia.yaml", THEIRS.format(name="GPU-7"))
    cdi.write(gpus("GPU-0", "GPU-1"))
    cdi.write(gpus("0", class_="gds"))
    assert cdi.remove_leftovers() == ["nvidia.com-mig.json"]
    assert names_in(path) == ["nvidia.com-gds.json", "nvidia.com-gpu.json", "nvidia.yaml"]


def test_unfinished_files_are_removed_when_they_are_old(cdi: CdiFolder, path: Path) -> None:
    """A young one may be another plugin's, at work this moment."""
    old, young = put(path, ".gpulab-1.tmp", ""), put(path, ".gpulab-2.tmp", "")
    theirs = put(path, "spec.1.tmp", "")
    for file in (old, theirs):
        os.utime(file, (time.time() - 61, time.time() - 61))
    assert cdi.remove_leftovers() == [".gpulab-1.tmp"]
    assert names_in(path) == [young.name, theirs.name]


def test_leftovers_of_no_folder_are_none(cdi: CdiFolder) -> None:
    """The first start on a node finds nothing, and makes nothing."""
    assert cdi.remove_leftovers() == []
    assert not cdi.path.exists()


def test_a_file_that_cannot_be_removed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what goes on meanwhile, and the command that ends it, blanks and all."""
    cdi = CdiFolder(tmp_path / "my specs")
    written = cdi.write(gpus("GPU-0"))
    unlink = Path.unlink

    def fail(_: Path, *, missing_ok: bool) -> None:
        raise PermissionError(1, "Operation not permitted", missing_ok)

    monkeypatch.setattr(Path, "unlink", fail)
    with pytest.raises(NotReady) as caught:
        cdi.remove(written)
    assert caught.value.facts() == {
        "where": str(written),
        "seen": "Operation not permitted",
        "remedy": f"remove it by hand, or containers are still given its devices: rm '{written}'",
    }
    monkeypatch.setattr(Path, "unlink", unlink)
    cdi.remove(written)
    assert not written.exists()
