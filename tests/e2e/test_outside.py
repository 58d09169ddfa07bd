"""A project outside of this repository, with the wheel, its own tests, and pytest-kind beside it.

What it is made of is what the how-to page shows.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from lab.cluster.kind.program import find_kind
from lab.core.progress import Silence
from lab.host.docker import Docker
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.install.node_image import choose
from tests.leaving_out import leave_out
from tests.unit.docs.pages import ROOT, page

#: Each makes a cluster of its own: beside the scenarios, in one group.
pytestmark = [pytest.mark.xdist_group("outside"), pytest.mark.timeout(900)]
PAGE = "docs/how-to/test-an-operator.md"
HANDS_OVER = """
import pytest

@pytest.fixture(scope="session")
def lab_kubeconfig(kind_cluster):
    return kind_cluster.kubeconfig_path
"""
BREAKS_OFF = """
import os
import pathlib
import time

def test_it(gpu_lab):
    pathlib.Path("begun").touch()
    {}
"""
ENDS_SECONDS = 600


@dataclass(frozen=True)
class Outside:
    """The project, a state folder of its own, and where the wheel was installed."""

    folder: Path
    site: Path

    @property
    def state(self) -> Path:
        """The folder of its labs."""
        return self.folder / "state"

    @contextmanager
    def pytest(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Run its tests beside the block, in a group of processes of their own."""
        kept = {key: each for key, each in os.environ.items() if not key.startswith("PYTEST_")}
        own = {"PYTHONPATH": str(self.site), "GPULAB_STATE_HOME": str(self.state)}
        with subprocess.Popen(
            # What a shell runs in the background ignores Ctrl-C, and so do its children.
            ("env", "--default-signal=INT", sys.executable, "-m", "pytest", "-n", "2", *arguments),
            cwd=self.folder,
            env={**kept, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as child:
            try:
                yield child
            finally:
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGKILL)

    def left(self, label: str) -> list[str]:
        """Return what is there of its labs: containers whose cluster begins so, and files."""
        command = ("docker", "ps", "-a", "--format", '{{.Label "io.x-k8s.kind.cluster"}}')
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = [each for each in listed.split() if each.startswith(label)]
        return found + [str(each) for each in self.state.rglob("*")]


@pytest.fixture(scope="module")
def site(lab_kubeconfig: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheel of this tree, built and installed without a network."""
    del lab_kubeconfig  # It sees to it that kind can run here.
    wheels, site = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("site")
    pip = (sys.executable, "-m", "pip", "--quiet")
    _run(*pip, "wheel", "--no-deps", "--no-build-isolation", f"--wheel-dir={wheels}", str(ROOT))
    (wheel,) = wheels.glob("*.whl")
    _run(*pip, "install", "--no-deps", "--no-index", f"--target={site}", str(wheel))
    return site


@pytest.fixture
def outside(site: Path, tmp_path: Path) -> Outside:
    """Return the project of the page."""
    (fleet,) = page(PAGE).blocks("yaml")
    healer, test = page(PAGE).blocks("python")
    files = {"fleet.yaml": fleet, "healer.py": healer, "test_healer.py": test}
    for name, block in files.items():
        (tmp_path / name).write_text(block.text, encoding="utf-8")
    return Outside(tmp_path, site)


def test_the_pages_hold(outside: Outside) -> None:
    """Its test and the front page's pass as they stand there, from the wheel; nothing is left."""
    (lost,) = page("README.md").blocks("python")
    (outside.folder / "test_lost_gpu.py").write_text(lost.text, encoding="utf-8")
    with outside.pytest() as child:
        said, _ = child.communicate(timeout=ENDS_SECONDS)
    assert child.returncode == 0, said
    assert "2 passed" in said
    assert outside.left(f"pytest-{child.pid}-") == []


def test_a_cluster_of_pytest_kind_is_handed_over(outside: Outside) -> None:
    """The lab leaves it before pytest-kind deletes it."""
    _require_pytest_kind()
    site, processes = Folders.of(), Processes()
    kind = find_kind(processes, site, Silence()).path
    image = choose(Docker(processes), None, engine=Docker(processes).engine()).reference
    (outside.folder / "conftest.py").write_text(HANDS_OVER, encoding="utf-8")
    name = f"theirs-{os.getpid()}"
    # Written with "=", or pytest would look for its root above the path.
    options = (f"--cluster-name={name}", f"--kind-bin={kind}", f"--kind-image={image}")
    with outside.pytest(*options) as child:
        said, _ = child.communicate(timeout=ENDS_SECONDS)
    assert child.returncode == 0, said
    assert outside.left(name) == []


def _require_pytest_kind() -> None:
    if find_spec("pytest_kind"):
        return
    leave_out("pytest-kind is not installed: it is in the extra `dev`")


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ("time.sleep(600)", lambda child: os.killpg(child.pid, signal.SIGINT)),
        ("time.sleep(600)", lambda child: child.send_signal(signal.SIGTERM)),
        ("os._exit(1)", lambda _: None),
    ],
    ids=["ctrl-c", "sigterm", "crash"],
)
def test_nothing_is_left_however_a_run_ends(
    outside: Outside, body: str, end: Callable[[subprocess.Popen[str]], None]
) -> None:
    """No container, no file."""
    (outside.folder / "test_healer.py").write_text(BREAKS_OFF.format(body), encoding="utf-8")
    with outside.pytest() as child:
        _wait_for(outside.folder / "begun", child)
        end(child)
        said, _ = child.communicate(timeout=ENDS_SECONDS)
    assert child.returncode != 0, said
    assert outside.left(f"pytest-{child.pid}-") == []


def _wait_for(file: Path, child: subprocess.Popen[str]) -> None:
    ends = time.monotonic() + ENDS_SECONDS
    while not file.exists():
        assert child.poll() is None, child.communicate()[0]
        assert time.monotonic() < ends, "the test has got no lab"
        time.sleep(0.2)


def _run(*command: str) -> None:
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
