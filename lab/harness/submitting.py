"""What a test makes in the cluster: in its own namespace, or for as long as the test lasts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fake_plugin.shortening import cut
from lab.cluster.connection import ApiFailed, Json
from lab.core.errors import CleanUpFailed, UsageError
from lab.harness.sight import MET, NotYet, Sight
from lab.harness.view import View
from lab.host.processes import pasteable

if TYPE_CHECKING:
    from lab.cluster.client import Client
    from lab.cluster.kinds import Kinds

_GONE_SECONDS: Final = 60.0
_SHOWN_CHARACTERS: Final = 200


@dataclass(frozen=True)
class Submitted:
    """An object that a test has made, by which it can be named; `namespace` is "" for none."""

    kind: str
    namespace: str
    name: str
    manifest: Json


def of_test(manifest: Json, namespace: str, kinds: "Kinds") -> Json:
    """Return an object as it is in a test's namespace, or in none, as its kind has it.

    Raises `UsageError` for what is no single object with a name, and where it is to be in another
    namespace: nobody would take it away again.
    """
    _require_object(manifest)
    kind, meta = manifest["kind"], {**manifest["metadata"]}
    given = meta.pop("namespace", namespace)
    if given != namespace:
        raise UsageError(
            "a test works in its own namespace, and nowhere else",
            where=f"{kind.lower()} {meta['name']}",
            seen=f"metadata.namespace is {given!r}, and the test's is {namespace!r}",
            remedy="leave metadata.namespace out",
        )
    inside = {"namespace": namespace} if kinds.has_namespace(manifest) else {}
    return {**manifest, "metadata": {**inside, **meta}}


def _require_object(manifest: object) -> None:
    match manifest:
        case {"apiVersion": str(), "kind": str(kind), "metadata": {"name": str(name)}}:
            if kind and name and not kind.endswith("List"):
                return
    raise UsageError(
        "this is no object that could be made",
        seen=cut(repr(manifest), _SHOWN_CHARACTERS),
        remedy="give each object by itself, with apiVersion, kind and metadata.name",
    )


def take_away(manifest: Json, client: "Client", view: View, kubeconfig: str) -> None:
    """Delete an object, and wait until it has gone; raises `CleanUpFailed` where it stays."""
    client.delete(manifest)
    path, kind, name = (
        client.kinds.path_of(manifest),
        manifest["kind"],
        manifest["metadata"]["name"],
    )

    def look() -> Sight:
        try:
            found = client.connection.get(path)
        except ApiFailed as error:
            if error.is_missing:
                return MET
            raise
        holding = found["metadata"].get("finalizers", ())
        return NotYet(f"it is there still; finalizers: {', '.join(holding) or 'none'}")

    show = ("kubectl", "--kubeconfig", kubeconfig, "get", kind.lower(), name, "-o", "yaml")
    view.require(
        look,
        _GONE_SECONDS,
        f"the {kind} {name} of a test did not go",
        where=path,
        remedy="see what holds it",
        commands=(pasteable(show),),
        error=CleanUpFailed,
    )
