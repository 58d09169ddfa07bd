"""What is not imported at the start, and is there all the same."""

import json
import subprocess
import sys

import pytest

PUT_OFF = "from fake_plugin.deferred import UNUSED, put_off; put_off(*UNUSED); import sys, json; "


def printed(program: str) -> object:
    """Return the JSON that a program prints in a Python of its own, after `put_off`."""
    command = (sys.executable, "-c", PUT_OFF + program)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_the_plugin_does_without_what_is_put_off() -> None:
    """Importing all of it loads no asyncio, no ssl, no second protobuf."""
    heavy = {"_ssl", "asyncio.events", "grpc.aio._call", "google.protobuf.internal.decoder"}
    program = "import fake_plugin.plugin, http.server; print(json.dumps(sorted(sys.modules)))"
    loaded = printed(program)
    assert isinstance(loaded, list)
    assert heavy.isdisjoint(loaded)


@pytest.mark.parametrize(
    "program",
    [
        "import asyncio; print(json.dumps(asyncio.run(asyncio.sleep(0, 7))))",
        "from asyncio import sleep, run; print(json.dumps(run(sleep(0, 7))))",
        "import asyncio.events; print(json.dumps(asyncio.run(asyncio.sleep(0, 7))))",
        "import grpc; import asyncio; print(json.dumps(asyncio.run(asyncio.sleep(0, 7))))",
        "import http.client, ssl; print(json.dumps(7 if ssl.create_default_context() else 0))",
        "import grpc; print(json.dumps(7 if grpc.aio.Channel else 0))",
        "from grpc import aio; print(json.dumps(7 if aio.Channel else 0))",
    ],
)
def test_who_uses_it_gets_the_real_one(program: str) -> None:
    """However a module that was put off is asked for."""
    assert printed(program) == 7


def test_what_is_imported_already_stays() -> None:
    """Nobody's module is replaced under his hands."""
    program = "print(json.dumps(sys.modules['json'] is json))"
    assert printed(f"put_off('json'); {program}") is True
