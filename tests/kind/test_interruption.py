"""Ctrl-C and SIGTERM at every step of `up`, and what others are doing at the same time."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kind.machine import USER_KUBECONFIG, Machine, run

#: What `up` says when it begins a step. The plugin image's steps run beside the cluster's.
STEPS = [
    "backend kind",
    "Creating the cluster",
    "Loading the plugin image",
    "Deploying the device plugin",
    "Waiting for the devices",
]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("step", STEPS)
def test_an_interrupted_up_leaves_nothing(machine: Machine, step: str, number: int) -> None:
    """Exit code 130, no container, no file, and the user's kubeconfig as it was."""
    with machine.started("up", "--name", "t-cut") as up:
        assert up.stderr
        said = next((line for line in up.stderr if step in line), None)
        assert said, f"`up` ended before {step!r}"
        up.send_signal(number)
        rest = up.stderr.read()
        assert up.wait(60) == 130, rest
    assert f"interrupted by {signal.Signals(number).name}" in rest
    assert machine.left_of("t-cut") == []
    assert machine.user_kubeconfig.read_text() == USER_KUBECONFIG


def test_an_up_that_was_killed_is_cleaned_up_by_the_next_command(machine: Machine) -> None:
    """SIGKILL leaves half a cluster; `down` knows that it is ours."""
    with machine.started("up", "--name", "t-killed") as up:
        assert up.stderr
        assert any("Creating the cluster" in line for line in up.stderr)
        os.kill(up.pid, signal.SIGKILL)
    assert machine.left_of("t-killed")
    assert machine.gpulab("down", "--name", "t-killed").returncode == 0
    assert machine.left_of("t-killed") == []


def test_down_is_idempotent(machine: Machine) -> None:
    """Where there is no lab there is nothing to do, and that is no error."""
    down = machine.gpulab("down", "--name", "t-never")
    assert (down.returncode, down.stdout) == (0, "")
    assert "there is no lab 't-never'" in down.stderr


@pytest.fixture
def foreign(machine: Machine) -> Iterator[str]:
    """Return a node container of a kind cluster that the lab did not make."""
    name = "t-foreign-control-plane"
    labels = ("io.x-k8s.kind.cluster=t-foreign", "io.x-k8s.kind.role=control-plane")
    options = [option for label in labels for option in ("--label", label)]
    remove = ("docker", "rm", "-f", "-v", name)
    # A run that was killed has left it.
    run(*remove, check=False)
    run("docker", "create", "--name", name, *options, machine.node_image())
    yield name
    run(*remove)


@pytest.mark.parametrize("command", ["up", "down"])
def test_a_cluster_of_someone_else_is_neither_adopted_nor_deleted(
    machine: Machine, foreign: str, command: str
) -> None:
    """The same name is not enough: the nodes lack the lab's mark."""
    ended = machine.gpulab(command, "--name", "t-foreign")
    assert ended.returncode == 3
    assert "that this gpu-lab did not make" in ended.stderr
    assert machine.left_of("t-foreign") == [foreign]


def test_two_labs_start_at_the_same_moment(machine: Machine, tmp_path: Path) -> None:
    """Neither disturbs the other, and each has its own kubeconfig."""
    with (
        machine.started("up", "--name", "t-left") as left,
        machine.lab("t-right", tmp_path) as right,
    ):
        assert left.stderr
        left_said = left.stderr.read()
        assert left.wait() == 0, left_said
        assert right.get("nodes")["items"][0]["metadata"]["name"] == "t-right-control-plane"
    assert machine.gpulab("down", "--name", "t-left").returncode == 0
    assert machine.left_of("t-left") == []
