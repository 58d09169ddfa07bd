"""The command line, its variables, and what it says when it is wrong."""

from pathlib import Path

import pytest

from fake_plugin.config import Config, read_config
from fake_plugin.errors import NotReady, StartError, WrongUse


@pytest.fixture
def options(tmp_path: Path) -> dict[str, str]:
    """Return the options that are needed, with values that are right."""
    return {
        "--fleet": "fleet.yaml",
        "--node": "worker",
        "--device-plugin-dir": str(tmp_path),
        "--state-dir": str(tmp_path),
    }


def line(options: dict[str, str]) -> list[str]:
    """Return the options as a command line."""
    return [part for option in options.items() for part in option]


def variables(options: dict[str, str]) -> dict[str, str]:
    """Return the options as variables."""
    return {
        f"GPULAB_{name[2:].upper().replace('-', '_')}": value for name, value in options.items()
    }


def test_options_are_read(options: dict[str, str], tmp_path: Path) -> None:
    """Each option has its place; health checks are off unless asked for."""
    expected = Config(Path("fleet.yaml"), "worker", tmp_path, tmp_path, None)
    assert read_config(line(options), {}) == expected


def test_variables_stand_in_for_options(options: dict[str, str]) -> None:
    """Every option can be given as a variable."""
    options |= {"--health": "[::]:9091", "--control": "[::]:9092", "--token-file": "token"}
    options |= {"--pod-resources": "kubelet.sock", "--cdi-dir": options["--state-dir"]}
    assert read_config([], variables(options)) == read_config(line(options), {})


def test_an_option_wins_over_its_variable(options: dict[str, str]) -> None:
    """What is typed counts more than what is in the environment."""
    environment = variables(options) | {"GPULAB_NODE": "other"}
    assert read_config(["--node", "worker"], environment).node == "worker"


@pytest.mark.parametrize("name", ["--fleet", "--node", "--device-plugin-dir", "--state-dir"])
def test_a_missing_option_is_named(options: dict[str, str], name: str) -> None:
    """The error names option and variable; an empty variable counts as missing."""
    environment = variables(options) | variables({name: ""})
    with pytest.raises(WrongUse, match=f"^{name} is missing$") as caught:
        read_config([], environment)
    assert f"set {next(iter(variables({name: ''})))}" in caught.value.remedy


def test_nvidias_variables_about_health_are_read(options: dict[str, str]) -> None:
    """They are what people set for the real plugin; an empty one counts as missing."""
    given = {"DP_DISABLE_HEALTHCHECKS": "79", "DP_ENABLE_HEALTHCHECKS": "", "DP_OTHER": "1"}
    assert read_config(line(options), given).health_checks == {"DP_DISABLE_HEALTHCHECKS": "79"}


@pytest.mark.parametrize(
    ("given", "missing"),
    [("--control", "--token-file"), ("--token-file", "--control")],
)
def test_the_control_api_is_never_without_a_token(
    options: dict[str, str], given: str, missing: str
) -> None:
    """Of the two options, each needs the other."""
    with pytest.raises(WrongUse, match=f"^{missing} is missing$"):
        read_config([*line(options), given, "127.0.0.1:9441"], {})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--bogus"], "unrecognized arguments: --bogus"),
        (["--nod", "worker"], "unrecognized arguments: --nod worker"),
        (["--node"], "argument --node: expected one argument"),
        (["--health", "9091"], "--health is no HOST:PORT"),
        (["--health", "localhost:http"], "--health is no HOST:PORT"),
        (["--health", "localhost:0"], "--health is no HOST:PORT"),
        (["--health", "localhost:65536"], "--health is no HOST:PORT"),
        (["--control", "9441", "--token-file", "t"], "--control is no HOST:PORT"),
    ],
)
def test_wrong_use_is_refused(options: dict[str, str], arguments: list[str], text: str) -> None:
    """What is not understood is an error of the user's, exit code 2."""
    with pytest.raises(WrongUse, match=f"^{text}$") as caught:
        read_config([*line(options), *arguments], {})
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("option", ["device-plugin-dir", "state-dir", "cdi-dir"])
@pytest.mark.parametrize(
    ("folder", "seen"), [("missing", ""), ("a-file", "it is a file"), ("a-file/below", "")]
)
def test_a_folder_must_be_there(
    options: dict[str, str], tmp_path: Path, option: str, folder: str, seen: str
) -> None:
    """A folder that is missing is something the node lacks, exit code 3."""
    (tmp_path / "a-file").touch()
    options[f"--{option}"] = str(tmp_path / folder)
    with pytest.raises(NotReady, match=f"^the folder of --{option} is not there$") as caught:
        read_config(line(options), {})
    assert (caught.value.where, caught.value.seen) == (str(tmp_path / folder), seen)
    assert caught.value.exit_code == 3


def test_a_folder_must_be_writable(
    options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system is asked before anything is tried; root may write nearly everywhere."""
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(NotReady, match=r"^the folder of --device-plugin-dir cannot be written to$"):
        read_config(line(options), {})


def test_facts_leave_out_what_is_not_known() -> None:
    """A log line has no empty fields."""
    assert StartError("what", where="there").facts() == {"where": "there"}
