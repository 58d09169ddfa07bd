"""The packages that the plugin imports, as wheels for the image's Python and not for ours.

Fetched on the host, where certificates, mirrors and proxies of the user are set up; the lock
beside this package pins each file by its hash.
"""

import sys
from importlib.resources import files
from typing import Final

from lab.core.errors import NotReady
from lab.host.processes import ProcessFailed, pasteable
from lab.images.architecture import image_architecture
from lab.images.plugin.base import PYTHON
from lab.images.store import Making, Part, ran_out_of_space

LOCK: Final = files("lab.images") / "plugin-requirements.lock"
SITE_FOLDER: Final = "site"
#: As wheels are tagged; Bookworm's C library is 2.36.
_MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_PLATFORMS: Final = ("manylinux2014", "manylinux_2_17", "manylinux_2_28", "manylinux_2_34")


def wheels_part() -> Part:
    """Return the part whose product holds a folder `site` with the unpacked wheels."""
    lock = LOCK.read_text()
    machine = _MACHINES[image_architecture()]
    arguments = (
        "--quiet",
        "--no-compile",
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
        "--implementation=cp",
        f"--python-version={PYTHON}",
        *(f"--platform={each}_{machine}" for each in _PLATFORMS),
    )

    def make(making: Making) -> None:
        requirements = making.scratch / "requirements.txt"
        requirements.write_text(lock)
        target = making.folder / SITE_FOLDER
        command = (sys.executable, "-m", "pip", "install", *arguments)
        try:
            making.processes.run((*command, "--target", target, "--requirement", requirements))
        except ProcessFailed as error:
            if ran_out_of_space(error):
                raise
            raise NotReady(
                "the packages for the plugin image could not be had",
                where=error.where,
                seen=error.seen,
                remedy="pip has to be there and to reach a package index "
                "(`pip config list` shows which)",
                commands=(pasteable((sys.executable, "-m", "pip", "--version")),),
            ) from error

    return Part(
        name="plugin-wheels",
        title="Fetch the wheels for the plugin image",
        version=PYTHON,
        inputs=(lock, *arguments),
        make=make,
    )
