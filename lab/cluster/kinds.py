"""Where the API keeps objects of a kind, as its discovery says."""

from lab.cluster.connection import Connection, Json
from lab.core.errors import UsageError


class Kinds:
    """The kinds that an API server knows; each group and version is asked for once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[str, Json] = {}

    def path_of(self, manifest: Json) -> str:
        """Return the path of one object; raises `UsageError` where the server has no such kind."""
        return f"{self.parent_of(manifest)}/{manifest['metadata']['name']}"

    def parent_of(self, manifest: Json) -> str:
        """Return the path that lists the objects beside it; raises like `path_of`."""
        namespace = manifest["metadata"].get("namespace", "default")
        inside = f"/namespaces/{namespace}" if self.has_namespace(manifest) else ""
        return f"{_root(manifest)}{inside}/{self._kind(manifest)['name']}"

    def has_namespace(self, manifest: Json) -> bool:
        """Whether objects of its kind are in namespaces; raises like `path_of`."""
        return bool(self._kind(manifest)["namespaced"])

    def _kind(self, manifest: Json) -> Json:
        version, kind, root = manifest["apiVersion"], manifest["kind"], _root(manifest)
        if root not in self._known:
            self._known[root] = self._connection.get(root)
        for each in self._known[root]["resources"]:
            if each["kind"] == kind and "/" not in each["name"]:
                found: Json = each
                return found
        known = sorted({each["kind"] for each in self._known[root]["resources"]})
        raise UsageError(
            f"the cluster's API server knows no {kind} of {version}",
            seen=f"kinds that it knows of {version}: {', '.join(known)}",
            remedy="correct apiVersion and kind",
        )


def _root(manifest: Json) -> str:
    version = manifest["apiVersion"]
    return f"/{'apis' if '/' in version else 'api'}/{version}"
