"""A folder of ours in the place of /var/lib/kubelet/device-plugins, for one program alone.

Most plugins know that path and no other. They are started in a mount namespace of their own, in
which our folder lies over it; the machine's own files stay as they are. Where the path is not
there, /var/lib is covered by a layer in which it can be made.
"""

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from lab.cluster.access import DEVICE_PLUGIN_DIR
from lab.core.errors import NotReady
from lab.host.processes import Processes, pasteable

FIXED_FOLDER: Final = DEVICE_PLUGIN_DIR
_TOLD: Final = (
    "tell the plugin the folder: write {dir} into its command, or name a variable with "
    "--dir-variable; or run this as root, on Linux"
)
_COVER: Final = """
if [ ! -d "$2" ]; then
  mount -t tmpfs tmpfs "$1.cover"
  mkdir "$1.cover/upper" "$1.cover/work"
  mount -t overlay overlay \
    -o "lowerdir=/var/lib,upperdir=$1.cover/upper,workdir=$1.cover/work" /var/lib
  mkdir -p "$2"
fi
mount --bind "$1" "$2"
shift 2
exec "$@"
"""


def at_fixed_folder(folder: Path, processes: Processes) -> tuple[str, ...]:
    """Return what begins the command line of a program that is to find `folder` there.

    Raises `NotReady` where this is no Linux, or the system does not allow it.
    """
    if sys.platform != "linux" or shutil.which("unshare") is None:
        raise NotReady(
            f"the plugin looks for its kubelet in {FIXED_FOLDER}, and that can be served on Linux "
            "alone, with the program unshare",
            where=sys.platform,
            remedy=_TOLD,
        )
    for each in (folder, folder.with_name(f"{folder.name}.cover")):
        each.mkdir(exist_ok=True)
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    begin = ("unshare", *user, "--mount", "sh", "-ec", _COVER, "sh", str(folder), FIXED_FOLDER)
    tried = processes.run((*begin, "true"), check=False)
    if not tried.ok:
        raise NotReady(
            f"the plugin looks for its kubelet in {FIXED_FOLDER}, and our folder cannot be put "
            "there for it",
            where=pasteable(("unshare", *user, "--mount")),
            seen=tried.tail(),
            remedy=f"{_TOLD}, or make the folder: over one that is there a user may lay another",
            commands=(f"sudo mkdir -p {FIXED_FOLDER}",),
        )
    return begin
