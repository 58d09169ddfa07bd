"""While `up` works on a lab, nobody else does."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from lab.core.errors import NotReady
from lab.install.down import take_down
from lab.install.lock import alone
from lab.install.order import Order
from lab.install.site import Site
from lab.install.up import bring_up
from tests.unit.install.orders import ORDER

pytestmark = pytest.mark.usefixtures("api")


def test_second_up_of_one_name_is_refused(up: Callable[[Order], None], site: Site) -> None:
    """While the first one is at work."""
    with alone(site.folders, "t-lab", "gpulab up"), pytest.raises(NotReady) as raised:
        up(ORDER)
    assert raised.value.what == "the lab 't-lab' is in use by another command"


def test_a_lab_is_not_taken_down_as_it_comes_up(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its nodes would be pulled away; the other one is told who is at work."""

    @contextmanager
    def meanwhile(_: Order, __: Site) -> Iterator[None]:
        take_down("t-lab", site)
        yield

    monkeypatch.setattr("lab.install.up._CLUSTERS", {"kind": meanwhile})
    with pytest.raises(NotReady) as raised:
        bring_up(ORDER, replace(site, command="gpulab up"))
    assert raised.value.seen == f"gpulab up, process {os.getpid()}"
