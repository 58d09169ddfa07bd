"""The plugin's options, and the variables that stand for them."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from lab.harness.pytest_plugin.options import OPTIONS, Settings, described, lab_options
from lab.harness.pytest_plugin.session import settings_of


def config(**given: str) -> pytest.Config:
    """Return a configuration with these options, run in /project."""
    values = dict.fromkeys((each.destination for each in OPTIONS), None) | given
    invocation = SimpleNamespace(dir=Path("/project"))
    found = SimpleNamespace(getoption=values.__getitem__, invocation_params=invocation)
    return cast("pytest.Config", found)


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in OPTIONS:
        monkeypatch.delenv(each.variable, raising=False)


def test_nothing_set_is_nothing_said() -> None:
    """The header of a project without labs is as it was."""
    assert described(config()) == ""
    assert Settings.of(config()).evidence == Path("/project/lab-evidence")


def test_the_command_line_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """And both are told."""
    monkeypatch.setenv("GPULAB_LAB_KEEP", "always")
    monkeypatch.setenv("GPULAB_LAB_CLUSTERS", "3")
    given = config(lab_keep="failed")
    assert (Settings.of(given).keep, Settings.of(given).clusters) == ("failed", 3)
    assert described(given) == "--lab-clusters=3, --lab-keep=failed"


def test_a_test_is_run_again_with_the_options_of_its_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with those of the environment, and not with those of its run."""
    monkeypatch.setenv("GPULAB_LAB_NODES", "a,b")
    given = config(lab_keep="failed", lab_kubeconfig="their/config", lab_evidence="kept")
    assert lab_options(given) == ("--lab-kubeconfig=their/config", "--lab-nodes=a,b")
    assert lab_options(config(lab_backend="auto")) == ("--lab-nodes=a,b",)


def test_files_are_those_of_the_folder_that_pytest_was_started_in() -> None:
    """And names of nodes are told apart by commas."""
    settings = Settings.of(config(lab_kubeconfig="their/config", lab_nodes="a, b,"))
    assert settings.kubeconfig == Path("/project/their/config")
    assert settings.nodes == ("a", "b")


@pytest.mark.parametrize(
    ("given", "of_kind", "of_existing"),
    [
        ({"lab_backend": "kind", "lab_nodes": "b"}, "--lab-backend kind", "--lab-nodes"),
        (
            {"lab_backend": "existing", "lab_node_image": "b"},
            "--lab-node-image",
            "--lab-backend existing",
        ),
        (
            {"lab_kubeconfig": "a", "lab_context": "b", "lab_node_image": "c"},
            "--lab-node-image",
            "--lab-kubeconfig, --lab-context",
        ),
    ],
)
def test_options_of_two_clusters_are_refused(
    given: dict[str, str], of_kind: str, of_existing: str
) -> None:
    """Before any test is collected, by the names of both."""
    with pytest.raises(pytest.UsageError) as raised:
        settings_of(config(**given))
    assert str(raised.value) == (
        f"{of_kind}: for a cluster of kind, and {of_existing} for one that is there already\n"
        "  next:  leave out the one or the other"
    )


@pytest.mark.parametrize("option", ["kubeconfig", "context", "nodes", "plugin_image", "node_image"])
def test_a_lab_that_is_up_is_made_of_nothing(option: str) -> None:
    """What is asked for would be left out."""
    with pytest.raises(pytest.UsageError) as raised:
        settings_of(config(lab_use="a", **{f"lab_{option}": "b"}))
    assert str(raised.value) == (
        f"--lab-{option.replace('_', '-')}: for a lab that is made for the run, and --lab-use a "
        "names one that is up already\n"
        "  next:  leave out the one or the other"
    )


@pytest.mark.parametrize(
    ("given", "one"),
    [
        ({"lab_use": "a"}, "--lab-use a"),
        ({"lab_kubeconfig": "a", "lab_nodes": "b"}, "--lab-kubeconfig, --lab-nodes"),
        ({"lab_backend": "existing"}, "--lab-backend existing"),
    ],
)
def test_one_lab_that_is_there_is_not_several(given: dict[str, str], one: str) -> None:
    """Tests would take turns on it, and whoever has asked for two would wait for nothing."""
    with pytest.raises(pytest.UsageError) as raised:
        settings_of(config(lab_clusters="2", **given))
    assert str(raised.value) == (
        f"--lab-clusters 2: for clusters that are made for the run, and {one} for one that is "
        "there already\n"
        "  next:  leave out the one or the other"
    )
    assert settings_of(config(lab_clusters="1", **given)).clusters == 1


@pytest.mark.parametrize("number", ["0", "two"])
def test_a_number_of_clusters_is_one_or_more(number: str) -> None:
    """Before any test is collected."""
    with pytest.raises(pytest.UsageError) as raised:
        Settings.of(config(lab_clusters=number))
    assert str(raised.value) == f"--lab-clusters {number}: a number of clusters is 1 or more"


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody would look for it otherwise: the command line is empty."""
    monkeypatch.setenv("GPULAB_LAB_BACKEND", "minikube")
    with pytest.raises(pytest.UsageError, match="GPULAB_LAB_BACKEND=minikube: choose one of auto"):
        Settings.of(config())


def test_a_variable_that_contradicts_an_option_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks at the command line alone finds nothing wrong."""
    monkeypatch.setenv("GPULAB_LAB_NODES", "a")
    with pytest.raises(pytest.UsageError, match="of kind, and GPULAB_LAB_NODES for one"):
        settings_of(config(lab_backend="kind"))


def test_options_that_a_fixture_may_complete_are_taken() -> None:
    """It is known with the first lab whether there is a kubeconfig that they go with."""
    assert settings_of(config(lab_context="a", lab_nodes="b")).context == "a"
