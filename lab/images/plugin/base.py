"""The Python that the plugin runs on, in the image.

Unpacked from Debian packages where mmdebstrap is there: a quarter of the size of the image
`python:slim`, and no registry is asked. All modules are compiled beforehand and their byte code
is never compared with the source again, since the image's file system is read-only.
"""

from typing import Final

from lab.images.debian import Packages, debian_part
from lab.images.store import Part

#: Bookworm's Python; the wheels are chosen for it.
PYTHON: Final = "3.11"
LIBRARY: Final = f"usr/lib/python{PYTHON}"
#: Where Debian's Python looks for packages that are not Debian's.
SITE: Final = f"usr/local/lib/python{PYTHON}/dist-packages"
_PACKAGES: Final = (
    "busybox-static",
    f"libpython{PYTHON}-stdlib",
    "libstdc++6",
    f"python{PYTHON}-minimal",
    "zlib1g",
)
_MODULES_LEFT_OUT: Final = (
    "ensurepip/*",
    "idlelib/*",
    "lib-dynload/_codecs_*",
    "lib-dynload/_curses*",
    "lib-dynload/_dbm*",
    "lib-dynload/_sqlite3*",
    "lib-dynload/_test*",
    "lib-dynload/nis*",
    "lib-dynload/readline*",
    "lib2to3/*",
    "pydoc_data/*",
    "turtle*",
    "unittest/*",
)
#: What the packages bring along and only the modules above, or an installation, would use.
_FILES_LEFT_OUT: Final = (
    "/bin/tar",
    "/lib/*/libncurses*",
    "/lib/*/libreadline*",
    "/lib/*/libtinfo*",
    "/lib/*/libtirpc*",
    "/usr/bin/dpkg*",
    "/usr/lib/*/libdb-*",
    "/usr/lib/*/libgssapi*",
    "/usr/lib/*/libk5*",
    "/usr/lib/*/libkrb5*",
    "/usr/lib/*/libsqlite*",
)
_COMPILE: Final = (
    f'chroot "$1" /usr/bin/python{PYTHON} -m compileall -q --invalidation-mode unchecked-hash '
    f"/{LIBRARY}\n"
)


def base_part() -> Part:
    """Return the part whose product holds a layer with a Python and a shell to look around."""
    packages = Packages(
        variant="extract",
        names=_PACKAGES,
        leave_out=(*(f"/{LIBRARY}/{each}" for each in _MODULES_LEFT_OUT), *_FILES_LEFT_OUT),
        finish=_COMPILE,
    )
    return debian_part("plugin-base", f"Unpack Python {PYTHON} for the plugin image", packages)
