"""Modules that our libraries import and this plugin never uses, put off until somebody does.

gRPC imports asyncio for its asynchronous half, asyncio and http.client import ssl, and protobuf
imports an implementation in Python that its own in C replaces. To a plugin that is to register
within a quarter of a second of its start, and to live in 50 MiB, these are a sixth of the time and
4 MiB. `importlib`'s own LazyLoader is of no use here: up to Python 3.11 a plain `import` of the
module ends the laziness.
"""

import importlib
import sys
from types import ModuleType
from typing import Final

UNUSED: Final = ("asyncio", "ssl", "grpc.aio", "google.protobuf.internal.python_message")


class Deferred(ModuleType):
    """Stands for a module, and imports the real one when anything is asked of it."""

    def __getattr__(self, name: str) -> object:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def put_off(*names: str) -> None:
    """Let the next import of each module do nothing; one that is imported already stays."""
    for name in names:
        sys.modules.setdefault(name, Deferred(name))
