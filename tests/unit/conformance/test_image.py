"""How somebody's image comes onto a node."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from lab.conformance.in_cluster.image import provide
from lab.core.errors import LabError
from lab.core.progress import Progress
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.install.backend import Image
from lab.install.site import Site

#: An engine with one image; what is asked of it is written down.
DOCKER: Final = """
echo "$1 $2 $3" >>"$CALLS"
case "$1 $3" in
  "image mine:1") echo '[{"Id": "sha256:0123456789abcdef", "Size": 1}]';;
  image*) echo "Error: No such image" >&2; exit 1;;
  save*) [ -z "$FULL" ] || { echo "no space left" >&2; exit 1; }; echo archive >"$3";;
esac
"""
NAME: Final = "localhost/gpu-lab/conform:0123456789ab"


@pytest.fixture
def calls(
    put_on_path: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return the file with what the engine was asked."""
    put_on_path("docker", DOCKER)
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    return tmp_path / "calls"


@pytest.fixture
def site(calls: Path, tmp_path: Path, progress: Progress) -> Site:
    """Return a site with that engine."""
    del calls
    return Site(Processes(), Folders(tmp_path / "state", tmp_path / "cache"), progress)


def test_the_engines_image_is_put_into_the_node_by_its_content(calls: Path, site: Site) -> None:
    """A tag that is built anew is another image; the engine keeps no name of ours."""
    assert provide("kind", "node-1", "mine:1", site) == Image(NAME)
    asked = calls.read_text().splitlines()
    assert f"tag mine:1 {NAME}" in asked
    assert f"rmi {NAME} " in asked
    assert [each for each in asked if each.startswith("exec -i node-1")]


def test_a_name_of_ours_goes_where_the_image_cannot_be_saved(
    calls: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is the engine's."""
    monkeypatch.setenv("FULL", "1")
    with pytest.raises(LabError, match="docker exited with 1"):
        provide("kind", "node-1", "mine:1", site)
    assert f"rmi {NAME} " in calls.read_text().splitlines()


@pytest.mark.parametrize(("backend", "image"), [("kind", "other:1"), ("existing", "mine:1")])
def test_any_other_image_is_pulled(backend: str, image: str, site: Site) -> None:
    """Nodes of a cluster that was there are no containers of this engine."""
    assert provide(backend, "node-1", image, site) == Image(image, pulled=True)
