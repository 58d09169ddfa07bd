"""The plugin's options, each with its twin in the environment, and what they amount to."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, cast, get_args

import pytest

Backend = Literal["auto", "kind", "existing"]
Keep = Literal["never", "failed", "always"]
#: Those that a lab can be on.
BACKENDS: Final = tuple(each for each in get_args(Backend) if each != "auto")
DOCTOR: Final = "--lab-doctor"
#: These say what a run does, and not what lab its tests have.
_OF_RUNS: Final = ("--lab-clusters", "--lab-keep", "--lab-evidence")


@dataclass(frozen=True)
class Option:
    """An option that takes a value: a text, or one of `choices`."""

    flag: str
    value: str
    help: str
    default: str = ""
    choices: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The variable of the environment that stands for it."""
        return "GPULAB_" + self.flag.removeprefix("--").replace("-", "_").upper()

    @property
    def destination(self) -> str:
        """Where pytest keeps its value."""
        return self.flag.removeprefix("--").replace("-", "_")


OPTIONS: Final = (
    Option(
        "--lab-backend",
        "BACKEND",
        "What labs are made on. `auto`: existing with a kubeconfig, else kind.",
        default="auto",
        choices=get_args(Backend),
    ),
    Option("--lab-kubeconfig", "FILE", "The kubeconfig of a cluster that is there already."),
    Option("--lab-context", "NAME", "A context of the kubeconfig. Default: its current one."),
    Option(
        "--lab-nodes",
        "NAMES",
        "The nodes of that cluster that a lab may have, with commas in between. Default: all "
        "workers.",
    ),
    Option(
        "--lab-plugin-image",
        "IMAGE",
        "Where that cluster's nodes pull the plugin's image from. Nodes of kind need none.",
    ),
    Option("--lab-node-image", "IMAGE", "The image for nodes of kind."),
    Option("--lab-use", "NAME", "A lab that is up: it is used, and never deleted."),
    Option(
        "--lab-clusters",
        "NUMBER",
        "So many clusters at most, for tests that run side by side.",
        default="1",
    ),
    Option(
        "--lab-keep",
        "WHEN",
        "Which labs stay after the run: none, those of a run with a failure, all.",
        default="never",
        choices=get_args(Keep),
    ),
    Option(
        "--lab-evidence",
        "FOLDER",
        "Where results are written, and all there is of a test that failed.",
        default="lab-evidence",
    ),
)


@dataclass(frozen=True)
class Settings:
    """What the options say; paths are absolute.

    `called` is by what each was said, or could be, without `lab`: `--lab-nodes`, or its variable.
    """

    backend: Backend
    kubeconfig: Path | None
    context: str | None
    nodes: tuple[str, ...]
    plugin_image: str | None
    node_image: str | None
    use: str | None
    clusters: int
    keep: Keep
    evidence: Path
    called: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, config: pytest.Config) -> "Settings":
        """Return what options and environment say; raises `pytest.UsageError`."""
        said = {option.flag: value for option, value in _said(config, os.environ)}
        folder = config.invocation_params.dir
        kubeconfig = said["--lab-kubeconfig"]
        return cls(
            backend=cast("Backend", said["--lab-backend"]),
            kubeconfig=folder / kubeconfig if kubeconfig else None,
            context=said["--lab-context"] or None,
            nodes=tuple(each.strip() for each in said["--lab-nodes"].split(",") if each.strip()),
            plugin_image=said["--lab-plugin-image"] or None,
            node_image=said["--lab-node-image"] or None,
            use=said["--lab-use"] or None,
            clusters=_number(said["--lab-clusters"]),
            keep=cast("Keep", said["--lab-keep"]),
            evidence=folder / said["--lab-evidence"],
            called={each.flag.removeprefix("--lab-"): _called(each, config) for each in OPTIONS},
        )


def add_options(parser: pytest.Parser) -> None:
    """Tell pytest of the options."""
    group = parser.getgroup("gpu-lab", "gpu-lab: a GPU cluster without GPUs")
    for option in OPTIONS:
        default = f" Default: {option.default}." if option.default else ""
        group.addoption(
            option.flag,
            metavar=option.value,
            choices=option.choices or None,
            help=f"{option.help}{default} Environment: {option.variable}.",
        )
    group.addoption(
        DOCTOR,
        action="store_true",
        help="Check whether this machine can run a lab, as `gpulab doctor` does, and run no tests.",
    )


def described(config: pytest.Config) -> str:
    """Return the options that are set, as a line of pytest's header; "" for none."""
    set_ones = (
        f"{option.flag}={value}"
        for option, value in _said(config, os.environ)
        if value != option.default
    )
    return ", ".join(set_ones)


def lab_options(config: pytest.Config) -> tuple[str, ...]:
    """Return the options that a test needs to have such a lab again, as words of a command."""
    return tuple(
        f"{option.flag}={value}"
        for option, value in _said(config, os.environ)
        if value != option.default and option.flag not in _OF_RUNS
    )


def _said(config: pytest.Config, environment: Mapping[str, str]) -> Iterator[tuple[Option, str]]:
    for option in OPTIONS:
        given = config.getoption(option.destination)
        value = environment.get(option.variable, "") if given is None else given
        if value and option.choices and value not in option.choices:
            choices = ", ".join(option.choices)
            raise pytest.UsageError(f"{option.variable}={value}: choose one of {choices}")
        yield option, str(value or option.default)


def _called(option: Option, config: pytest.Config) -> str:
    by_variable = config.getoption(option.destination) is None and os.environ.get(option.variable)
    return option.variable if by_variable else option.flag


def _number(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise pytest.UsageError(f"--lab-clusters {text}: a number of clusters is 1 or more")
    return int(text)
