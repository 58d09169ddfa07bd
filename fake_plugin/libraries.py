"""What the plugin needs beyond Python, imported before anything else needs it.

A machine without it, or with something too old, is told so in one line: as a missing folder is.
"""

import importlib
import os
import sys
from typing import Final

from fake_plugin.deferred import UNUSED, put_off
from fake_plugin.errors import NotReady

#: The generated API refuses a gRPC or protobuf that is older than what made it.
_NEEDED: Final = (
    "yaml",
    "inotify_simple",
    "fake_plugin.api.deviceplugin_pb2",
    "fake_plugin.api.deviceplugin_pb2_grpc",
)


def load() -> None:
    """Import the libraries; raises `NotReady` where one is missing, broken or too old."""
    # gRPC reads these as it is imported: no lines of its own beside ours, no handlers for forks.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    put_off(*UNUSED)
    for name in _NEEDED:
        try:
            importlib.import_module(name)
        # What is too old raises something of its own each.
        except Exception as problem:
            raise NotReady(
                "a library of the plugin cannot be imported",
                where=sys.executable,
                seen=f"{type(problem).__name__}: {problem}",
                remedy="install for this Python what the extra `plugin` of gpu-lab names: "
                "grpcio, protobuf, PyYAML and inotify_simple",
            ) from problem
