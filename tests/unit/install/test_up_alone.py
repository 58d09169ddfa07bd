"""One `up` at a time works on a lab."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lab.core.errors import NotReady
from lab.install.lock import alone
from lab.install.order import Order
from lab.install.site import Site
from lab.install.up import bring_up
from tests.unit.install.orders import ORDER

pytestmark = pytest.mark.usefixtures("api")


def test_second_up_of_one_name_is_refused(up: Callable[[Order], None], site: Site) -> None:
    """While the first one is at work."""
    with alone(site.folders, "t-lab"), pytest.raises(NotReady) as raised:
        up(ORDER)
    assert raised.value.what == "another gpulab is at work on the lab 't-lab'"


def test_cache_that_cannot_be_written_is_named(site: Site, tmp_path: Path) -> None:
    """Nothing begins without a lock."""
    (tmp_path / "file").touch()
    folders = replace(site.folders, cache=tmp_path / "file" / "cache")
    with pytest.raises(NotReady, match="cannot write its own files") as raised:
        bring_up(ORDER, replace(site, folders=folders))
    assert raised.value.where == str(folders.cache)
    assert "GPULAB_CACHE_HOME" in raised.value.remedy


@pytest.mark.usefixtures("up")
def test_two_names_do_not_wait_for_each_other(site: Site) -> None:
    """Each has a lock of its own."""
    with alone(site.folders, "t-lab"), alone(site.folders, "t-other"):
        locks = (site.folders.cache / "locks").iterdir()
        assert {each.name for each in locks} == {"t-lab.lock", "t-other.lock"}
