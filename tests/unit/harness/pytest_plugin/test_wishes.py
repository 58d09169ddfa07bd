"""The marker `gpu_lab`: what it may say, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from lab.core.fleet import Fleet
from lab.harness.pytest_plugin.wishes import Wish, wish_of

FLEET = """
apiVersion: gpu-lab/v1
kind: Fleet
pools:
  - {name: mine, nodes: 2, resource: example.com/gpu, count: 3}
"""


@pytest.fixture
def wish(tmp_path: Path) -> Callable[..., Wish]:
    """Return what reads the markers of a test, the nearest one first."""

    def read(*marks: pytest.MarkDecorator) -> Wish:
        item = SimpleNamespace(
            nodeid="tests/test_it.py::test_it",
            path=tmp_path / "tests/test_it.py",
            config=SimpleNamespace(rootpath=tmp_path),
            stash=pytest.Stash(),
            iter_markers=lambda _: (each.mark for each in marks),
        )
        return wish_of(cast("pytest.Item", item))

    return read


def mark(*arguments: object, **named: object) -> pytest.MarkDecorator:
    """Return a marker with these arguments."""
    return pytest.mark.gpu_lab(*arguments, **named)


@pytest.mark.parametrize(
    ("marker", "says"),
    [
        (mark("chapter"), "'chapter' has no name: write fleet=…, backend=… or needs=…"),
        (mark(flet="x"), "it has no argument 'flet'; there are fleet, backend, needs, titles, "),
        (mark(fleet=7), "fleet=7: a name, a path or a Fleet"),
        (mark(fleet="h200"), "there is no fleet 'h200', but chapter, "),
        (mark(fleet="h200.yaml"), "there is no file 'h200.yaml'; looked for it in /"),
        (mark(backend="minikube"), "backend='minikube': there are kind, existing"),
        (mark(needs=["fly"]), "needs='fly': there are run, restart_kubelet, "),
        (mark(needs=7), "needs=7: a name or several"),
        (mark(titles="It works"), "titles='It works': a text for each language, of en, zh"),
        (mark(titles={"de": "Es geht"}), "titles={'de': 'Es geht'}: a text for each language"),
    ],
)
def test_what_nobody_could_serve_is_refused(
    wish: Callable[..., Wish], marker: pytest.MarkDecorator, says: str
) -> None:
    """With the name of the test, and what there is instead."""
    with pytest.raises(pytest.UsageError) as raised:
        wish(marker)
    assert str(raised.value).startswith(f"tests/test_it.py::test_it: marker gpu_lab: {says}")


@pytest.mark.parametrize("folder", ["tests", "."])
def test_a_file_is_looked_for_beside_the_test_and_in_the_root(
    wish: Callable[..., Wish], tmp_path: Path, folder: str
) -> None:
    """A project may have its fleets in either place."""
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / "mine.yaml").write_text(FLEET)
    assert wish(mark(fleet="mine.yaml")).fleet.pools[0].count == 3


def test_a_wrong_file_is_refused_with_its_line(wish: Callable[..., Wish], tmp_path: Path) -> None:
    """In the words of `gpulab up`."""
    (tmp_path / "mine.yaml").write_text(FLEET.replace("pools:", "pool:"))
    with pytest.raises(pytest.UsageError, match=r"mine.yaml:4"):
        wish(mark(fleet="mine.yaml"))


def test_without_a_marker_the_fleet_is_the_chapters(wish: Callable[..., Wish]) -> None:
    """And nothing else is asked for."""
    test = "tests/test_it.py::test_it"
    assert wish() == Wish(test, Fleet.default(), (), frozenset(), titles={}, section="")


def test_the_nearest_marker_counts_argument_by_argument(wish: Callable[..., Wish]) -> None:
    """A module says what its tests have in common."""
    module = mark(fleet="three-vendors", needs="run")
    found = wish(mark(needs="restart", backend=("kind", "existing")), module)
    assert [pool.name for pool in found.fleet.pools] == ["nvidia", "amd", "ascend"]
    assert found.needs == frozenset({"restart"})
    assert found.backends == ("kind", "existing")


def test_groups_differ_by_fleet_and_not_by_test(wish: Callable[..., Wish]) -> None:
    """Two fleets may have pools of the same names."""
    groups = {wish(mark(fleet=name)).group for name in ("mig", "mig-cut-anew", "mig")}
    assert len(groups) == 2
