"""A machine with stand-ins for Go, mmdebstrap and Docker, which note how they were called.

Go's `install` writes scripts in place of programs: a `containerd` that waits and a `ctr` that
keeps what it imports.
"""

import io
import json
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.host.folders import Folders

Put = Callable[[str, str], Path]

KIND_FILES = {
    "etc/containerd/config.toml": (
        'sandbox_image = "registry.k8s.io/pause:3.10"\nrestrict_oom_score_adj = false\n'
    ),
    "etc/default/kubelet": "KUBELET_EXTRA_ARGS=--runtime-cgroups=/x",
    "etc/systemd/system/containerd.service": (
        "[Service]\nLimitNPROC=infinity\nLimitCORE=infinity\nLimitNOFILE=infinity\n"
        "TasksMax=infinity\nOOMScoreAdjust=-999\n"
    ),
    "usr/local/bin/clean-install": "#!/bin/bash\n",
    "usr/local/bin/entrypoint": "#!/bin/bash\n",
}
_GO = """
echo "go $*" >>"$CALLS"
[ "$1" != env ] || { echo go1.26.8; exit; }
[ -z "$GO_FAILS" ] || { echo "$GO_FAILS" >&2; exit 1; }
case "$1" in
mod) printf '{"Dir": "%s"}' "$KIND" ;;
build)
  while [ "$1" != -o ]; do shift; done
  echo program >"$2" ;;
install)
  for each; do
    name=${each##*/} name=${name%@*}
    case "$each" in
    */ctr@*) cp "$FAKES/ctr" "$GOBIN/ctr" ;;
    */containerd@*) cp "$FAKES/containerd" "$GOBIN/containerd" ;;
    *@*) echo program >"$GOBIN/$name" ;;
    esac
  done ;;
esac
"""
_CTR = """#!/bin/sh
case "$*" in
"oci spec") echo '{"process": {"rlimits": [1], "cwd": "/"}}' ;;
*version*) exit 0 ;;
*import*)
  for last; do :; done
  store="$(sed -n 's/^root = "\\(.*\\)"/\\1/p' "${2%/*}/config.toml")"
  mkdir -p "$store/io.containerd.content.v1.content" "$store/io.containerd.metadata.v1.bolt"
  mkdir -p "$store/of.another.plugin/snapshots"
  cp "$last" "$store/io.containerd.content.v1.content/blobs"
  echo db >"$store/io.containerd.metadata.v1.bolt/meta.db" ;;
esac
"""
_CONTAINERD = "#!/bin/sh\nexec sleep 30\n"
_MMDEBSTRAP = """
echo "mmdebstrap $*" >>"$CALLS"
[ -z "$MMDEBSTRAP_FAILS" ] || { echo "$MMDEBSTRAP_FAILS" >&2; exit 1; }
for each; do case "$each" in *.tar) cp "$FAKES/root.tar" "$each" ;; esac; done
"""
_DOCKER = """
case "$1" in
info) cat "$FAKES/info.json" ;;
load)
  [ -z "$LOAD_FAILS" ] || { echo "$LOAD_FAILS" >&2; exit 1; }
  cat >"$FAKES/loaded.tar" ;;
image)
  [ -f "$FAKES/loaded.tar" ] || { echo "No such image: $3" >&2; exit 1; }
  rm -rf "$FAKES/unpacked"
  mkdir "$FAKES/unpacked"
  tar -C "$FAKES/unpacked" -xf "$FAKES/loaded.tar"
  grep -q "\\"$3\\"" "$FAKES/unpacked/manifest.json" || { echo "No such image: $3" >&2; exit 1; }
  printf '[{"Id": "sha256:1", "Size": 700, "Config": '
  sed 's/.*"config": \\({.*}\\), "created".*/\\1/' "$FAKES"/unpacked/*[0-9a-f].json | tail -n 1
  echo '}]' ;;
esac
"""
_TOOLS = ("cat", "cp", "grep", "mkdir", "rm", "sed", "sh", "sleep", "tail", "tar", "chmod")


@dataclass(frozen=True)
class Tar:
    """A tar file in memory: its entries by name, and the content of its files."""

    entries: dict[str, tarfile.TarInfo]
    files: dict[str, bytes]

    @classmethod
    def read(cls, source: Path | bytes) -> "Tar":
        """Read a file, or what was in one."""
        raw = source.read_bytes() if isinstance(source, Path) else source
        with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
            entries = {each.name: each for each in tar.getmembers()}
            opened = {name: tar.extractfile(each) for name, each in entries.items() if each.isreg()}
            return cls(entries, {name: each.read() for name, each in opened.items() if each})

    @property
    def names(self) -> list[str]:
        """The names of its entries, in their order."""
        return list(self.entries)

    def text(self, name: str) -> str:
        """Return a file as text."""
        return self.files[name].decode()


@dataclass(frozen=True)
class ImageMachine:
    """`fakes` holds what the stand-ins give, `calls` is their log."""

    fakes: Path
    calls: Path
    folders: Folders
    environment: pytest.MonkeyPatch

    @classmethod
    def set_up(cls, put: Put, tmp_path: Path, environment: pytest.MonkeyPatch) -> "ImageMachine":
        """Put the stand-ins on the PATH."""
        fakes = tmp_path / "fakes"
        fakes.mkdir()
        for name in _TOOLS:
            (tmp_path / "bin" / name).symlink_to(f"/bin/{name}")
        put("apt-get", "")
        put("docker", _DOCKER)
        put("go", _GO)
        put("mmdebstrap", _MMDEBSTRAP)
        for name, script in (("ctr", _CTR), ("containerd", _CONTAINERD)):
            (fakes / name).write_text(script)
            (fakes / name).chmod(0o755)
        folders = Folders(state=tmp_path / "state", cache=tmp_path / "cache")
        machine = cls(fakes, tmp_path / "calls", folders, environment)
        machine._write_kind(tmp_path / "kind")
        machine.write_root({})
        machine.engine(cgroup_version=2)
        for name, value in (
            ("CALLS", machine.calls),
            ("FAKES", fakes),
            ("KIND", tmp_path / "kind"),
        ):
            environment.setenv(name, str(value))
        return machine

    def engine(self, *, cgroup_version: int) -> None:
        """Change what Docker says of itself."""
        info = {"ServerVersion": "29.1.0", "CgroupVersion": str(cgroup_version)}
        (self.fakes / "info.json").write_text(json.dumps({**info, "DockerRootDir": "/nowhere"}))

    def called(self, program: str) -> list[str]:
        """Return how a program was called, but for questions about its version."""
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [line for line in lines if line.startswith(program) and "GOVERSION" not in line]

    def loaded(self) -> Tar:
        """Return the archive that Docker was given."""
        return Tar.read(self.fakes / "loaded.tar")

    def left_over(self) -> list[str]:
        """Return what lies in the cache without being whole."""
        return [each.name for each in self.folders.cache.rglob(".making-*")]

    def _write_kind(self, module: Path) -> None:
        for name, text in KIND_FILES.items():
            file = module / "images" / "base" / "files" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def write_root(self, more: Mapping[str, str]) -> None:
        """Change what mmdebstrap unpacks: a Busybox, and programs by their path."""
        programs = {"bin/busybox": "#!/bin/sh\necho busybox ls sh wget\n", **more}
        with tarfile.open(self.fakes / "root.tar", "w") as root:
            for name, text in programs.items():
                entry = tarfile.TarInfo(f"./{name}")
                entry.size, entry.mode = len(text), 0o755
                root.addfile(entry, io.BytesIO(text.encode()))
