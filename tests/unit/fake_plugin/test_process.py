"""The plugin as a process: its options, signals, exit codes and what it leaves behind."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.fake_plugin.conftest import RESOURCE
from tests.unit.fake_plugin.control.callers import asked
from tests.unit.fake_plugin.control.conftest import TOKEN
from tests.unit.fake_plugin.kubelet import sockets_told, wait_for_devices, wait_until

FLEET = f"""\
apiVersion: gpu-lab/v1
kind: Fleet
pools:
  - {{name: chapter, nodes: 1, resource: {RESOURCE}, count: 8}}
"""
#: As `python -m fake_plugin`, behind what a test changes in it.
MAIN = "import sys, fake_plugin.__main__ as plugin; sys.exit(plugin.main(sys.argv[1:]))"
Child = subprocess.Popen[str]
StartChild = Callable[..., Child]


@pytest.fixture
def start_child(folder: Path, tmp_path: Path) -> Iterator[StartChild]:
    """Return what starts a plugin as a process, with its log in `<tmp_path>/log`."""
    (tmp_path / "fleet.yaml").write_text(FLEET)
    children: list[Child] = []

    def start(*options: str, node: str = "chapter-0", program: str = "", **variables: str) -> Child:
        given = {
            "GPULAB_FLEET": str(tmp_path / "fleet.yaml"),
            "GPULAB_NODE": node,
            "GPULAB_DEVICE_PLUGIN_DIR": str(folder),
            "GPULAB_STATE_DIR": str(tmp_path),
            "http_proxy": "http://127.0.0.1:9",
        }
        with (tmp_path / "log").open("w", encoding="utf-8") as log:
            child = subprocess.Popen(
                [sys.executable, "-c", program + MAIN, *options],
                env=os.environ | given | variables,
                stderr=log,
                text=True,
            )
        children.append(child)
        return child

    yield start
    for child in children:
        child.kill()
        child.wait()


def logged(tmp_path: Path) -> list[dict[str, object]]:
    """Return the log; every line must be JSON."""
    return [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]


def events_of(tmp_path: Path) -> list[object]:
    """Return the names of the events in the log."""
    return [line["event"] for line in logged(tmp_path)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(
    kubelet: DeviceManager, start_child: StartChild, tmp_path: Path, number: signal.Signals
) -> None:
    """The streams end, the socket goes, the exit code is 0, and the log says why."""
    child = start_child()
    connection = wait_for_devices(kubelet, RESOURCE, 8)
    child.send_signal(number)
    assert child.wait(10) == 0
    assert connection.ended.wait(5)
    assert list(kubelet.folder.glob("gpulab-*")) == []
    # Other lines may stand between: the kubelet watches before "registered" is logged.
    ending = {"stopping": number.name, "stream-ended": None, "stopped": None}
    lines = [(line["event"], line.get("signal")) for line in logged(tmp_path)]
    assert [line for line in lines if line[0] in ending] == [*ending.items()]
    assert lines[-1][0] == "stopped"


def test_the_scan_is_logged_before_anything_is_registered(
    kubelet: DeviceManager, start_child: StartChild, tmp_path: Path
) -> None:
    """A timeline begins with it: how many cards were found, and as what they are offered."""
    start_child()
    wait_for_devices(kubelet, RESOURCE, 8)
    lines = logged(tmp_path)
    scan = next(line for line in lines if line["event"] == "scanned")
    assert (scan["cards"], scan["resources"]) == (8, [RESOURCE])
    events = [line["event"] for line in lines]
    assert events.index("scanned") < events.index("started") < events.index("registering")


def test_devices_are_the_same_after_a_kill(
    kubelet: DeviceManager, start_child: StartChild, tmp_path: Path
) -> None:
    """Nothing of a killed plugin is in the way of the next, which has the same devices."""
    child = start_child()
    before = wait_for_devices(kubelet, RESOURCE, 8)
    child.kill()
    assert before.ended.wait(5)
    child.wait()
    start_child()
    wait_until("the next plugin", lambda: len(kubelet.registrations) == 2)
    after = wait_for_devices(kubelet, RESOURCE, 8)
    assert after.devices == before.devices
    assert [path.name for path in kubelet.folder.glob("gpulab-*")] == [after.request.endpoint]
    assert "leftover-removed" in events_of(tmp_path)


def test_a_crash_on_command_is_answered_first_and_leaves_what_a_kill_leaves(
    kubelet: DeviceManager, start_child: StartChild, tmp_path: Path
) -> None:
    """Its socket stays, no stream is ended in order, and the next plugin has the same devices."""
    (tmp_path / "token").write_text(TOKEN)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    child = start_child(f"--control=127.0.0.1:{port}", f"--token-file={tmp_path / 'token'}")
    before = wait_for_devices(kubelet, RESOURCE, 8)
    wait_until("the API", lambda: "control-listening" in events_of(tmp_path))
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    answer = asked(port, "POST", "/v1/crash", b'{"exitCode": 3}', headers)
    assert answer == (200, {"exitCode": 3})
    assert child.wait(10) == 3
    assert before.ended.wait(5)
    assert [path.name for path in kubelet.folder.glob("gpulab-*")] == [before.request.endpoint]
    assert not {"stopping", "stream-ended", "stopped"} & {*events_of(tmp_path)}
    start_child()
    wait_until("the next plugin", lambda: len(kubelet.registrations) == 2)
    assert wait_for_devices(kubelet, RESOURCE, 8).devices == before.devices


def test_a_node_without_a_pool_waits_for_the_end(
    kubelet: DeviceManager, start_child: StartChild, tmp_path: Path
) -> None:
    """The plugin runs on every node: where it has nothing to serve, it says so and stays."""
    child = start_child(node="elsewhere")
    wait_until("a word about it", lambda: "nothing-to-serve" in events_of(tmp_path))
    child.terminate()
    assert child.wait(10) == 0
    assert sockets_told(kubelet) == []


def test_what_the_vendors_plugin_warns_of_is_logged(
    kubelet: DeviceManager, start_child: StartChild, tmp_path: Path
) -> None:
    """A card in MIG mode without a MIG device is a warning, with the key that says so."""
    accelerator = (
        "{name: a, vendor: nvidia, product: A, computeSlices: 7, memorySlices: 8, "
        "profiles: [{name: 1g.10gb, most: 7, compute: 1, memory: 1}]}"
    )
    pool = f"name: chapter, nodes: 1, count: 2, accelerator: {accelerator}"
    cut = "partitions: {strategy: mixed, layout: [{devices: [0], profiles: {}}]}"
    (tmp_path / "fleet.yaml").write_text(
        f"apiVersion: gpu-lab/v1\nkind: Fleet\npools:\n- {{{pool}, {cut}}}\n"
    )
    start_child()
    wait_for_devices(kubelet, "nvidia.com/gpu", 1)
    (line,) = [each for each in logged(tmp_path) if each["event"] == "overlooked"]
    assert (line["level"], line["pool"], line["key"]) == ("warning", "chapter", "partitions.layout")


def test_nvidias_variables_about_health_are_obeyed_and_logged(
    kubelet: DeviceManager, start_child: StartChild, tmp_path: Path
) -> None:
    """They come from the environment, and what is no Xid in them is named."""
    start_child(DP_DISABLE_HEALTHCHECKS="79,x")
    wait_for_devices(kubelet, RESOURCE, 8)
    (line,) = [each for each in logged(tmp_path) if each["event"] == "health-checks"]
    assert (line["off"], line["malformed"], line["disable"]) == (
        False,
        ["x"],
        "79,x",
    )


def test_what_a_start_makes_is_not_looked_through_again(
    kubelet: DeviceManager, start_child: StartChild, tmp_path: Path
) -> None:
    """Garbage is collected, though not among modules and devices: that would hold up a flap."""
    told = tmp_path / "told"
    child = start_child(
        program="import atexit, gc, pathlib; atexit.register(lambda: pathlib.Path("
        f"{str(told)!r}).write_text(f'{{gc.isenabled()}} {{gc.get_freeze_count()}}')); "
    )
    wait_for_devices(kubelet, RESOURCE, 8)
    child.terminate()
    assert child.wait(10) == 0
    enabled, frozen = told.read_text().split()
    assert enabled == "True"
    assert int(frozen) > 10_000


def test_a_second_signal_ends_it_at_once(start_child: StartChild, tmp_path: Path) -> None:
    """Whoever asks twice does not wait for what still holds up the end."""
    hangs = "import signal, fake_plugin.plugin as p; p.Plugin.stop = lambda _: signal.pause(); "
    child = start_child(program=hangs)
    wait_until("the start", lambda: "started" in events_of(tmp_path))
    child.terminate()
    wait_until("the first signal", lambda: "stopping" in events_of(tmp_path))
    child.terminate()
    assert child.wait(10) == 128 + signal.SIGTERM


@pytest.mark.parametrize(
    ("options", "code", "what"),
    [
        (["--bogus"], 2, "unrecognized arguments: --bogus"),
        (["--fleet", "/none.yaml"], 2, "the fleet file: cannot be read"),
        (["--state-dir", "/none"], 3, "the folder of --state-dir is not there"),
        (["--health", "256.0.0.1:1"], 3, "the address of --health cannot be listened on"),
        (["--control", "[::]:1", "--token-file", "/no"], 3, "the token file cannot be read"),
    ],
)
def test_what_keeps_it_from_starting_is_one_line(
    start_child: StartChild, tmp_path: Path, options: list[str], code: int, what: str
) -> None:
    """An error of use is exit code 2, something missing 3, and never a traceback."""
    assert start_child(*options).wait(10) == code
    (line,) = [each for each in logged(tmp_path) if each["event"] != "scanned"]
    assert (line["event"], line["what"]) == ("cannot-start", what)
    assert line["remedy"]


@pytest.mark.parametrize("library", ["grpc", "google.protobuf", "yaml", "inotify_simple"])
def test_a_library_that_is_missing_is_named(
    start_child: StartChild, tmp_path: Path, library: str
) -> None:
    """It is the machine that lacks something, and not the plugin that has a mistake."""
    child = start_child(program=f"import sys; sys.modules[{library!r}] = None; ")
    assert child.wait(10) == 3
    (line,) = logged(tmp_path)
    assert line["what"] == "a library of the plugin cannot be imported"
    assert line["where"] == sys.executable
    assert f"ModuleNotFoundError: import of {library}" in str(line["seen"])
    assert "the extra `plugin`" in str(line["remedy"])


def test_a_library_that_is_too_old_is_named(start_child: StartChild, tmp_path: Path) -> None:
    """The generated API says what it needs."""
    child = start_child(program="import grpc; grpc.__version__ = '1.60.0'; ")
    assert child.wait(10) == 3
    (line,) = logged(tmp_path)
    assert "RuntimeError: The grpc package installed is at version 1.60.0" in str(line["seen"])


def test_what_was_not_foreseen_ends_it(
    kubelet: DeviceManager, start_child: StartChild, tmp_path: Path
) -> None:
    """A plugin without one of its threads would only look alive: it ends, to be restarted."""
    child = start_child(program="import fake_plugin.serving.attempt as a; a.Listener = None; ")
    assert child.wait(10) == 1
    assert events_of(tmp_path)[-1] == "crashed"
    assert "TypeError" in str(logged(tmp_path)[-1]["traceback"])
    assert sockets_told(kubelet) == []


def test_help_is_shown() -> None:
    """Every option and its variable is named."""
    command = [sys.executable, "-m", "fake_plugin", "--help"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for option in ("FLEET", "NODE", "DEVICE_PLUGIN_DIR", "STATE_DIR", "HEALTH"):
        assert f"[GPULAB_{option}]" in text
