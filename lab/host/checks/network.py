"""Checks of the proxy settings that kind copies into every node."""

from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from lab.host.checks.finding import Finding, State
from lab.host.checks.machine import Machine

_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY")
_API_SERVER: Final = "127.0.0.1"


def proxy(machine: Machine) -> Finding:
    """Return whether a node can reach the proxies; on its localhost there is none."""
    proxies = _proxies(machine.environment)
    if not proxies:
        return Finding("proxy", State.OK, "none set")
    shown = ", ".join(f"{name}={_address(value)}" for name, value in proxies.items())
    local = [name for name, value in proxies.items() if _is_loopback(_host(value))]
    if not local:
        return Finding("proxy", State.OK, shown)
    return Finding(
        "proxy",
        State.WARN,
        shown,
        "an address that nodes can reach",
        "a proxy on localhost cannot be reached from a node, whose localhost is its own: let it "
        "listen on the address of Docker's bridge and name that, or do without it",
        (f"unset {' '.join(local)}",),
    )


def no_proxy(machine: Machine) -> Finding:
    """Return whether the way to the cluster's API server avoids the proxies."""
    if not _proxies(machine.environment):
        return Finding("no-proxy", State.OK, "no proxy is set")
    value = _value(machine.environment, "NO_PROXY")[1]
    entries = [entry.strip() for entry in value.split(",") if entry.strip()]
    if any(_covers(entry) for entry in entries):
        return Finding("no-proxy", State.OK, value, _API_SERVER)
    return Finding(
        "no-proxy",
        State.WARN,
        value or "not set",
        _API_SERVER,
        "the API server listens on this machine: keep the way to it off the proxy (kind itself "
        "adds the networks and nodes of the cluster, inside of the nodes)",
        (f"export NO_PROXY={','.join([*entries, _API_SERVER, 'localhost'])}",),
    )


def _proxies(environment: Mapping[str, str]) -> dict[str, str]:
    found = (_value(environment, name) for name in _PROXIES)
    return {name: value for name, value in found if value}


def _value(environment: Mapping[str, str], name: str) -> tuple[str, str]:
    """Return the variable and its value; kind, as most, prefers upper case."""
    for spelling in (name, name.lower()):
        if environment.get(spelling):
            return spelling, environment[spelling]
    return name, ""


def _host(proxy: str) -> str:
    try:
        return urlsplit(proxy if "://" in proxy else f"//{proxy}").hostname or ""
    except ValueError:
        return ""


def _address(proxy: str) -> str:
    """Return the proxy without the user's name and password."""
    return f"***@{proxy.rpartition('@')[2]}" if "@" in proxy else proxy


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _covers(entry: str) -> bool:
    try:
        return ip_address(_API_SERVER) in ip_network(entry, strict=False)
    except ValueError:
        return entry == "*"
