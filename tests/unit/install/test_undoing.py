"""What an `up` that does not come to its end leaves behind."""

import pytest

from lab.cluster.kind.cluster import KindCluster
from lab.cluster.record import LabFolder, Record
from lab.core.errors import CleanUpFailed, Interrupted, LabError
from lab.install.kind.standing import undone_unless_it_stands
from lab.install.site import Site
from tests.unit.stand_ins.engine import FakeEngine


@pytest.mark.parametrize("error", [Interrupted("i"), KeyboardInterrupt(), LabError("l"), OSError()])
@pytest.mark.parametrize("phase", [None, "creating", "ready"])
def test_undone_unless_it_stands(
    site: Site, engine: FakeEngine, folder: LabFolder, phase: str | None, error: BaseException
) -> None:
    """An interrupt undoes all; a failure undoes what does not stand yet."""
    cluster = KindCluster("t-lab", site.docker, folder)
    engine.set(containers=engine.nodes())
    if phase:
        folder.write(Record("t-lab", "kind", "creating", "node:v1"))
    if phase == "ready":
        folder.mark_ready()
    with pytest.raises(type(error)), undone_unless_it_stands(cluster, site.progress):
        raise error
    stands = phase == "ready" and isinstance(error, LabError) and not isinstance(error, Interrupted)
    stands |= phase == "ready" and isinstance(error, OSError)
    assert (bool(engine.names()), folder.path.exists()) == (stands, stands)


def test_undoing_that_fails_is_told(site: Site, engine: FakeEngine, folder: LabFolder) -> None:
    """What is left and how to remove it takes the place of the interrupt."""
    cluster = KindCluster("t-lab", site.docker, folder)
    engine.set(containers=engine.nodes(), stubborn="device is busy")
    with (
        pytest.raises(CleanUpFailed, match="could not be removed") as raised,
        undone_unless_it_stands(cluster, site.progress),
    ):
        raise Interrupted("interrupted by SIGINT")
    assert raised.value.exit_code == 1
