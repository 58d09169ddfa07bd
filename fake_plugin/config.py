"""The command line: a contract, with a `GPULAB_` variable behind each option."""

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn

from fake_plugin.errors import NotReady, WrongUse
from fake_plugin.hardware import health_checks

_OPTIONS: Final = {
    "fleet": ("FILE", "the fleet file"),
    "node": ("NAME", "the name of this node in the cluster"),
    "device-plugin-dir": ("DIR", "the kubelet's folder of plugin sockets, where kubelet.sock is"),
    "state-dir": ("DIR", "a folder of this plugin's own, kept over restarts"),
    "health": ("HOST:PORT", "answer gRPC health checks there (default: nowhere)"),
    "control": ("HOST:PORT", "serve the control API there (default: nowhere)"),
    "token-file": ("FILE", "what callers of the control API must show; read at each call"),
    "pod-resources": ("SOCKET", "where the kubelet says which pod holds what (default: not asked)"),
    "cdi-dir": ("DIR", "where CDI specs are written, for strategies that use them"),
}
_NEEDED: Final = ("fleet", "node", "device-plugin-dir", "state-dir")
#: An API without a token would be open to every pod of the cluster.
_TOGETHER: Final = ("control", "token-file")
_LAST_PORT: Final = 65535


@dataclass(frozen=True)
class Config:
    """What the plugin was told; the folders are absolute and were there when it was read."""

    fleet: Path
    node: str
    plugin_dir: Path
    state_dir: Path
    health: str | None
    control: str | None = None
    token_file: Path | None = None
    pod_resources: Path | None = None
    cdi_dir: Path | None = None
    #: NVIDIA's own variables about health checks, where they are set.
    health_checks: Mapping[str, str] = field(default_factory=dict)


def read_config(arguments: Sequence[str], environment: Mapping[str, str]) -> Config:
    """Return what the options say, and the variables where an option is missing.

    An empty variable counts as missing. Raises `WrongUse` for a wrong or missing option and
    `NotReady` for a folder that is not there or cannot be written to.
    """
    given = vars(_parser().parse_args(arguments))
    values = {name: given[name] or environment.get(_variable(name), "") for name in _OPTIONS}
    together = _TOGETHER if any(values[name] for name in _TOGETHER) else ()
    for name in (*_NEEDED, *together):
        if not values[name]:
            raise WrongUse(
                f"--{name} is missing",
                where="the command line",
                remedy=f"give --{name} {_OPTIONS[name][0]}, or set {_variable(name)}",
            )
    return Config(
        fleet=Path(values["fleet"]),
        node=values["node"],
        plugin_dir=_folder("device-plugin-dir", values["device-plugin-dir"]),
        state_dir=_folder("state-dir", values["state-dir"]),
        health=_address("health", values["health"]),
        control=_address("control", values["control"]),
        token_file=_path(values["token-file"]),
        pod_resources=_path(values["pod-resources"]),
        cdi_dir=_folder("cdi-dir", values["cdi-dir"]) if values["cdi-dir"] else None,
        health_checks={
            name: value for name in health_checks.VARIABLES if (value := environment.get(name))
        },
    )


def _variable(option: str) -> str:
    return "GPULAB_" + option.upper().replace("-", "_")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise WrongUse(message, where="the command line", remedy="see python -m fake_plugin --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m fake_plugin",
        description="Serve the fake devices that a fleet gives to one node.",
        allow_abbrev=False,
    )
    for name, (shape, text) in _OPTIONS.items():
        parser.add_argument(
            f"--{name}", dest=name, metavar=shape, help=f"{text} [{_variable(name)}]"
        )
    return parser


def _folder(option: str, value: str) -> Path:
    # Not resolved: a path behind a link may be too long for a socket where the link is not.
    path = Path(os.path.abspath(value))  # noqa: PTH100 - Path.resolve follows links
    if not os.path.isdir(path):  # noqa: PTH112 - Path.is_dir fails below a folder that is closed
        raise NotReady(
            f"the folder of --{option} is not there",
            where=str(path),
            seen="it is a file" if os.path.isfile(path) else "",  # noqa: PTH113 - the same
            remedy="make the folder, or mount it into the container",
        )
    if not os.access(path, os.W_OK | os.X_OK):
        raise NotReady(
            f"the folder of --{option} cannot be written to",
            where=str(path),
            remedy="mount it writable, and run as its owner",
        )
    return path


def _path(value: str) -> Path | None:
    return Path(value) if value else None


def _address(option: str, value: str) -> str | None:
    host, colon, port = value.rpartition(":")
    if not value:
        return None
    if not (host and colon and port.isascii() and port.isdigit() and 0 < int(port) <= _LAST_PORT):
        raise WrongUse(
            f"--{option} is no HOST:PORT",
            where="the command line",
            seen=value,
            remedy=f"such as --{option} 0.0.0.0:9091 or --{option} [::]:9091",
        )
    return value
