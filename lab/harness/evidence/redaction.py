"""What is taken out of everything that is kept: secrets, and what only machines read."""

import json
import re
from collections.abc import Iterable
from typing import Any, Final

REMOVED: Final = "(removed)"
_SECRET_NAME: Final = re.compile(
    r"token|passw|secret|credential|api.?key|private.?key|authorization", re.IGNORECASE
)
#: A bearer token, and the two first parts of a JSON Web Token, wherever they are printed.
_SECRET_TEXT: Final = re.compile(
    r"(?i)(?<=bearer )[\w.~+/=-]{16,}|eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]+)?"
)
#: `kubectl apply` keeps a copy of the whole object there, its secrets with it.
_COPIES: Final = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})
#: Keys such as `secretName` say where a secret is, and not what it is.
_POINTERS: Final = ("Name", "Ref")
_NOISE: Final = frozenset({"managedFields"})


def redacted_text(text: str, secrets: Iterable[str]) -> str:
    """Return a text without these secrets, and without what looks like one."""
    for each in secrets:
        if each:
            text = text.replace(each, REMOVED)
    return _SECRET_TEXT.sub(REMOVED, text)


def redacted_json(found: Any, secrets: Iterable[str]) -> Any:  # noqa: ANN401 - any JSON
    """Return what `redacted_text` makes of some JSON, as what it is again."""
    return json.loads(redacted_text(json.dumps(found, ensure_ascii=False), secrets))


def redacted(found: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return an object of the API without the values whose names tell that they are secret.

    So are the values of a container's variables, whose names stand beside them.
    """
    match found:
        case {"name": str(name), "value": str(), **rest} if _SECRET_NAME.search(name):
            return {"name": name, "value": REMOVED, **redacted(rest)}
        case dict():
            return {
                key: REMOVED if _is_secret(key, value) else redacted(value)
                for key, value in found.items()
                if key not in _NOISE
            }
        case list():
            return [redacted(each) for each in found]
        case _:
            return found


def _is_secret(key: str, value: object) -> bool:
    if not isinstance(value, str) or key.endswith(_POINTERS):
        return False
    return key in _COPIES or bool(_SECRET_NAME.search(key))
