"""File systems made of Debian packages, by mmdebstrap.

mmdebstrap and not debootstrap: it resolves dependencies with apt, writes a tar file directly,
can leave files out while it unpacks (a node is 200 MB instead of 338 MB), and can unpack a few
packages without a system around them, which is what a small image wants.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from lab.core.errors import NotReady
from lab.host.processes import Processes, ProcessFailed
from lab.images.layer import Layer
from lab.images.store import Making, Part, ran_out_of_space

#: Bookworm, whatever the host is: the systemd of later releases refuses hosts with cgroup v1.
SUITE: Final = "bookworm"
_LEFT_OUT: Final = (
    "/usr/share/bash-completion/*",
    "/usr/share/doc/*",
    "/usr/share/info/*",
    "/usr/share/lintian/*",
    "/usr/share/locale/*",
    "/usr/share/man/*",
    "/usr/lib/*/gconv/*",
)
_TAR: Final = "layer.tar"
_WANTED: Final = [[f"{SUITE}{each}", "main"] for each in ("", "-security", "-updates")]


@dataclass(frozen=True)
class Packages:
    """What goes in: a whole small system (`essential`), or no more than the named (`extract`).

    `leave_out` are patterns of files, `finish` is a shell script that is run on the finished tree,
    which is its first argument.
    """

    variant: Literal["essential", "extract"]
    names: tuple[str, ...]
    leave_out: tuple[str, ...] = ()
    finish: str = ""

    def arguments(self) -> tuple[str, ...]:
        """Return the command line of mmdebstrap that decides what comes out."""
        patterns = (*_LEFT_OUT, *self.leave_out)
        return (
            f"--variant={self.variant}",
            f"--include={','.join(self.names)}",
            "--skip=output/dev",
            *(f"--dpkgopt=path-exclude={each}" for each in patterns),
        )


def debian_part(name: str, title: str, packages: Packages) -> Part:
    """Return the part whose product holds a layer of these packages."""

    def make(making: Making) -> None:
        arguments = packages.arguments()
        if packages.finish:
            # Nothing comes after the extraction where no more than that was asked for.
            moment = "extract" if packages.variant == "extract" else "customize"
            arguments = (*arguments, f"--{moment}-hook=set -eu\n{packages.finish}")
        _run(making, arguments)

    inputs = (*packages.arguments(), packages.finish)
    return Part(name=name, title=title, version=SUITE, inputs=inputs, make=make)


def layer_in(product: Path) -> Layer:
    """Return the layer that a part of this kind has made."""
    return Layer.of(product / _TAR)


def has_mmdebstrap() -> bool:
    """Whether this machine can make file systems of Debian packages."""
    return shutil.which("mmdebstrap") is not None


def require_mmdebstrap() -> None:
    """Raise `NotReady` where the program is missing, with the way to get it."""
    if not has_mmdebstrap():
        raise missing_mmdebstrap(
            "the program mmdebstrap is missing, which builds file systems of Debian packages",
            instead="use an image that someone else has built",
        )


def missing_mmdebstrap(what: str, *, instead: str, where: str = "", seen: str = "") -> NotReady:
    """Return the error that says `what`; `instead` is the other way out, beside the program."""
    return NotReady(
        what,
        where=where,
        seen=seen,
        remedy=f"install mmdebstrap (Debian and Ubuntu have it), or {instead}",
        commands=("sudo apt-get install --yes mmdebstrap debian-archive-keyring",),
    )


def _run(making: Making, arguments: tuple[str, ...]) -> None:
    require_mmdebstrap()
    target = making.folder / _TAR
    command = ("mmdebstrap", *arguments, SUITE, str(target), *_sources(making.processes))
    # In a namespace of its own, which it needs without root, it may not look into our folders.
    environment = {"TMPDIR": str(making.scratch)} if os.geteuid() == 0 else {}
    try:
        making.processes.run(
            command,
            env=environment,
            on_line=lambda line: making.step.update(line.removeprefix("I: ")),
        )
    except ProcessFailed as error:
        if ran_out_of_space(error):
            raise
        raise NotReady(
            "mmdebstrap could not make a file system of Debian packages",
            where=error.where,
            seen=error.seen,
            remedy="it needs a Debian mirror that answers, Debian's keys, and root or user "
            "namespaces",
            commands=("sudo apt-get install --yes debian-archive-keyring uidmap",),
        ) from error


def _sources(processes: Processes) -> tuple[str, ...]:
    """Return the host's own lines for the suite: a mirror that it uses is one that answers.

    Empty where the host is another system: mmdebstrap then asks Debian's own servers.
    """
    form = "deb $(REPO_URI) $(RELEASE) $(COMPONENT)"
    listed = processes.run(
        ("apt-get", "indextargets", "--format", form, "Created-By: Packages", "Origin: Debian"),
        check=False,
    )
    lines = {line for line in listed.stdout.splitlines() if line.startswith("deb ")}
    return tuple(sorted(line for line in lines if line.split()[2:] in _WANTED))
