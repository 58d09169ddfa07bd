"""One context of a user's kubeconfig, as a file of the lab's own.

The user's file is read and never written: switching its context, or deleting it, changes nothing
for the lab, and nothing of the lab can end up in a production context.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from lab.core.errors import UsageError

#: Files that a kubeconfig may name, by the key that holds the same inline, in base64
#: (Kubernetes, client-go/tools/clientcmd/api/v1/types.go).
_INLINED: Final = {
    "certificate-authority": "certificate-authority-data",
    "client-certificate": "client-certificate-data",
    "client-key": "client-key-data",
}
#: A file that is read anew as it changes; it stays a file.
_TOKEN_FILE: Final = "tokenFile"  # noqa: S105 - a key

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Context:
    """A context by its name, and the text of a kubeconfig that has it and nothing else."""

    name: str
    text: str


def read_context(file: Path, name: str | None) -> Context:
    """Return a context of a kubeconfig, by default its current one, with all files inlined.

    Raises `UsageError` where the file, the context, or what the context names is not there.
    """
    whole = _loaded(file)
    name = name or str(whole.get("current-context") or "")
    context = _entry(whole, "context", name, file)
    parts = {
        kind: _self_contained(_entry(whole, kind, str(context.get(kind, "")), file), file)
        for kind in ("cluster", "user")
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [{"name": name, "context": dict(context)}],
        **{f"{kind}s": [{"name": context[kind], kind: part}] for kind, part in parts.items()},
    }
    return Context(name, yaml.safe_dump(config, sort_keys=False))


def _loaded(file: Path) -> Json:
    try:
        loaded = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise _unusable("the kubeconfig cannot be read", file, str(error)) from error
    if not isinstance(loaded, dict):
        raise _unusable("the kubeconfig cannot be read", file, "it is no mapping")
    return loaded


def _entry(whole: Json, kind: str, name: str, file: Path) -> Json:
    """Return the context, cluster or user of a name."""
    listed = whole.get(f"{kind}s")
    entries = (
        [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    )
    for each in entries:
        if each.get("name") == name and isinstance(each.get(kind), dict):
            found: Json = each[kind]
            return found
    what = f"the kubeconfig has no {kind} {name!r}" if name else "the kubeconfig has no context set"
    names = ", ".join(str(each.get("name")) for each in entries) or "none"
    raise _unusable(what, file, f"{kind}s that it has: {names}")


def _self_contained(part: Json, file: Path) -> Json:
    """Return a cluster or a user without the files that it names, relative to the kubeconfig."""
    folder = file.absolute().parent
    found = dict(part)
    for key, inline in _INLINED.items():
        if named := found.pop(key, None):
            found[inline] = _content(folder / str(named), key, file)
    if found.get(_TOKEN_FILE):
        found[_TOKEN_FILE] = str(folder / found[_TOKEN_FILE])
    plugin = found.get("exec")
    # As client-go does: a command with a separator in it is a path beside the kubeconfig.
    if isinstance(plugin, dict) and "/" in str(plugin.get("command", "")):
        found["exec"] = {**plugin, "command": str(folder / plugin["command"])}
    return found


def _content(path: Path, key: str, file: Path) -> str:
    try:
        return base64.b64encode(path.read_bytes()).decode()
    except OSError as error:
        raise _unusable(
            f"a file that the kubeconfig names as {key} cannot be read", file, str(error)
        ) from error


def _unusable(what: str, file: Path, seen: str) -> UsageError:
    return UsageError(
        what,
        where=str(file),
        seen=seen,
        remedy="name a kubeconfig that is there, and one of its contexts",
    )
