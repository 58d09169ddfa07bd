"""Takes a lab on kind away: its nodes, and then its files."""

from lab.cluster.kind.cluster import KindCluster
from lab.core.errors import Interrupted


def remove(cluster: KindCluster, *, just_interrupted: bool = False) -> None:
    """Remove the nodes and the files of a lab; a signal meanwhile says what may be left."""
    try:
        cluster.delete(just_interrupted=just_interrupted)
        cluster.folder.remove()
    except KeyboardInterrupt as error:
        raise Interrupted(
            f"interrupted while the lab {cluster.name!r} was removed: some of it is still there",
            commands=(f"gpulab down --name {cluster.name}",),
        ) from error
