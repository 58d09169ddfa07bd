"""Whether images can be pulled, and how soon that is known."""

import socket
import threading
from collections.abc import Iterator

import pytest

from lab.install import registry as registry_module
from lab.install.registry import reachable


@pytest.fixture
def silent() -> Iterator[str]:
    """Return the address of a registry that accepts and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v2/"


def test_registry_that_answers_is_in_reach(registry: str) -> None:
    """Whatever it answers: that it wants a login, as Docker Hub does, or that it is busy."""
    assert reachable(registry)


def test_silent_registry_is_out_of_reach(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A firewall that swallows packets does not hold the answer up."""
    monkeypatch.setattr(registry_module, "_PROBE_SECONDS", 0.05)
    assert not reachable(silent)


def test_look_up_of_a_name_does_not_hold_the_answer_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server that is away answers late, and no time of ours ends the question."""
    over, ended = threading.Event(), threading.Event()

    def late(*_: object, **__: object) -> list[object]:
        over.wait(20)
        ended.set()
        raise socket.gaierror

    monkeypatch.setattr(registry_module, "_PROBE_SECONDS", 0.05)
    monkeypatch.setattr(socket, "getaddrinfo", late)
    assert not reachable("http://registry.example/v2/")
    assert not ended.is_set()
    over.set()


def test_name_that_nobody_knows_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a network, the answer is known before its time is over."""

    def unknown(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(registry_module, "_PROBE_SECONDS", 600)
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert not reachable("http://registry.example/v2/")
