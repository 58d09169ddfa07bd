"""What the doctor says of proxies."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from lab.host.checks import network
from lab.host.checks.finding import Finding, State
from tests.unit.doctor.machines import SOUND

PROXY = {"HTTPS_PROXY": "http://proxy.example:3128"}


def proxy(environment: dict[str, str]) -> Finding:
    """Return the finding on the proxies of an environment."""
    return network.proxy(replace(SOUND, environment=environment))


def no_proxy(environment: dict[str, str]) -> Finding:
    """Return the finding on the exceptions of an environment."""
    return network.no_proxy(replace(SOUND, environment=environment))


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:3128",
        "http://localhost:3128",
        "http://squid.localhost:3128",
        "socks5://[::1]:1080",
        "127.0.0.2:3128",
        "http://user:secret@127.0.0.1:3128",
    ],
)
@pytest.mark.parametrize("name", ["HTTP_PROXY", "https_proxy"])
def test_proxy_on_localhost_is_called_out(name: str, address: str) -> None:
    """A node's localhost is its own: nothing listens there."""
    found = proxy({name: address})
    assert found.state is State.WARN
    assert "cannot be reached from a node" in found.remedy
    assert found.commands == (f"unset {name}",)


@pytest.mark.parametrize(
    "address",
    [
        "http://proxy.example:3128",
        "http://10.0.0.1:3128",
        "http://localhost.example",
        "http://[::1",
    ],
)
def test_other_proxy_is_fine(address: str) -> None:
    """Whether it answers is not asked: it may need a password."""
    assert proxy({"HTTP_PROXY": address}).state is State.OK


def test_password_of_a_proxy_is_not_shown() -> None:
    """A report may be pasted into an issue."""
    found = proxy({"HTTP_PROXY": "http://user:p@ss@proxy.example:3128"})
    assert found.measured == "HTTP_PROXY=***@proxy.example:3128"


def test_upper_case_comes_first() -> None:
    """Where both spellings are set, kind copies the upper case one."""
    found = proxy({"http_proxy": "http://127.0.0.1:1", "HTTP_PROXY": "http://proxy.example"})
    assert (found.state, found.measured) == (State.OK, "HTTP_PROXY=http://proxy.example")


@pytest.mark.parametrize("check", [proxy, no_proxy])
@pytest.mark.parametrize("environment", [{}, {"HTTP_PROXY": "", "NO_PROXY": "a"}])
def test_no_proxy_is_no_matter(
    check: Callable[[dict[str, str]], Finding], environment: dict[str, str]
) -> None:
    """Without a proxy there is nothing to judge."""
    assert check(environment).state is State.OK


@pytest.mark.parametrize(
    "value", ["127.0.0.1", "localhost, 127.0.0.1", "127.0.0.0/8", "10.0.0.0/8,*", "*"]
)
@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_exception_for_the_api_server_is_found(name: str, value: str) -> None:
    """By address, by network, or for everything."""
    assert no_proxy({**PROXY, name: value}).state is State.OK


@pytest.mark.parametrize(
    ("value", "command"),
    [
        ("", "export NO_PROXY=127.0.0.1,localhost"),
        ("a.example, 10.0.0.0/8", "export NO_PROXY=a.example,10.0.0.0/8,127.0.0.1,localhost"),
    ],
)
def test_missing_exception_is_added_to_what_is_there(value: str, command: str) -> None:
    """The line to paste keeps the user's own exceptions."""
    found = no_proxy({**PROXY, "NO_PROXY": value})
    assert (found.state, found.commands) == (State.WARN, (command,))
