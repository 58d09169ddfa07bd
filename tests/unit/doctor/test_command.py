"""`gpulab doctor`, as it is called."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from lab.cli import doctor
from lab.cli.doctor import checks, print_findings
from lab.cli.main import run
from lab.core.pins import KIND_NODE_IMAGE
from lab.core.progress import Silence
from lab.host.checks.finding import Finding, State
from lab.host.docker import Docker
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.images.node import node_image_reference
from lab.install.node_image import Choice
from lab.install.site import Site
from tests.unit.doctor.machines import with_kernel
from tests.unit.stand_ins.engine import FakeEngine

NAMES = [
    "python",
    "docker",
    "docker-version",
    "disk",
    "memory",
    "inotify-instances",
    "inotify-watches",
    "cgroup",
    "CAP_SYS_RESOURCE",
    "proxy",
    "no-proxy",
    "kind",
    "node-image",
    "plugin-image",
    "kubectl",
    "go",
]


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULAB_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("GPULAB_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.usefixtures("put_on_path")
def test_machine_without_docker_is_not_ready(capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code says so, stderr names what fails, and stdout has every finding as JSON."""
    assert run(["doctor", "--output", "json"]) == 3
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert report["ready"] is False
    assert [each["name"] for each in report["findings"]] == NAMES
    assert set(report["findings"][1]) == {
        "name", "state", "measured", "wanted", "remedy", "commands",
    }  # fmt: skip
    assert err == "error: this machine is not ready: docker\n"


def test_warnings_leave_a_machine_ready(
    put_on_path: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """With an engine and a node image all is done, whatever else may be missing."""
    info = json.dumps({"ServerVersion": "28.0.0", "Name": "server", "MemTotal": 1})
    image = json.dumps([{"Id": "sha256:1", "Size": 1, "Config": {}}])
    put_on_path("docker", f"case $1 in info) echo '{info}';; image) echo '{image}';; esac")
    assert run(["doctor", "--output", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ready"] is True
    assert {each["state"] for each in report["findings"]} == {"ok", "warn"}


@pytest.fixture
def wanted_kubectl(
    engine: FakeEngine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], str]:
    """Return what is wanted of kubectl where the engine has this image and no registry."""
    for module in ("node_image", "plugin_image"):
        monkeypatch.setattr(f"lab.install.{module}.can_pull", lambda *_: False)

    def wanted(image: str) -> str:
        engine.set(images={image: {"Id": "sha256:1", "Size": 1, "Config": {}}}, calls=[])
        run(["doctor", "--output", "json"])
        findings = json.loads(capsys.readouterr().out)["findings"]
        return str(findings[NAMES.index("kubectl")]["wanted"])

    return wanted


def test_kubectl_is_measured_by_the_nodes(wanted_kubectl: Callable[[str], str]) -> None:
    """Kind's own image has another Kubernetes than the one that is built here."""
    built = node_image_reference(Docker(Processes()).engine())
    assert wanted_kubectl(KIND_NODE_IMAGE) == "v1.36 to v1.38"
    assert wanted_kubectl(built) == "v1.35 to v1.37"


def test_kubectl_is_measured_by_the_image_to_build_where_there_is_none(
    wanted_kubectl: Callable[[str], str],
) -> None:
    """It is what the doctor sends to."""
    assert wanted_kubectl("busybox") == "v1.35 to v1.37"


def test_engine_is_measured_once(wanted_kubectl: Callable[[str], str], engine: FakeEngine) -> None:
    """All that is said of it comes from one answer."""
    wanted_kubectl("busybox")
    assert len(engine.calls("info")) == 1


@pytest.mark.parametrize(
    ("reason", "state"), [("built on this machine", State.OK), ("kind's default", State.WARN)]
)
def test_missing_capability_is_told_where_the_node_image_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str, state: State
) -> None:
    """One that is built here does without: there is nothing to do about it."""
    chosen = Choice("node:v1.36.3", reason, at_hand=True)
    monkeypatch.setattr(doctor, "node_choice", lambda *_: chosen)
    without = with_kernel(tmp_path, {"self/status": "CapBnd:\t00000000a80425fb\n"})
    site = Site(Processes(), Folders.of(), Silence())
    check = checks(without, site)[NAMES.index("CAP_SYS_RESOURCE")]
    assert check().state is state


@pytest.mark.usefixtures("put_on_path")
def test_text_ends_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    """The table comes first, the remedies below it."""
    assert run(["doctor"]) == 3
    out = capsys.readouterr().out
    assert out.startswith("CHECK ")
    assert "\ndocker: install Docker Engine or Docker Desktop" in out


def shown(findings: Sequence[Finding], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the lines that are printed, without the blanks behind them."""
    print_findings(findings)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_table_is_aligned_and_remedies_follow(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is cut, no bracket is taken for markup, and what is well needs no remedy."""
    findings = [
        Finding("python", State.OK, "3.11", "3.11 or newer", "unread"),
        Finding("disk", State.WARN, "a measurement of some length", "5 GiB", "make room", ("rm",)),
        Finding("kubectl", State.FAIL, "[missing]"),
    ]
    assert shown(findings, capsys) == [
        "CHECK    STATE  MEASURED                      WANTED",
        "python   ok     3.11                          3.11 or newer",
        "disk     warn   a measurement of some length  5 GiB",
        "kubectl  fail   [missing]",
        "",
        "disk: make room",
        "  $ rm",
    ]
