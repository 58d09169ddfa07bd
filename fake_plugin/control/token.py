"""Who may call the control API: whoever shows the token, which is in a file."""

import hmac
from http import HTTPStatus
from pathlib import Path
from typing import Final

from fake_plugin.control.refusal import Refusal
from fake_plugin.errors import NotReady, WrongUse
from fake_plugin.files.regular import open_regular

LEAST: Final = 16
MOST_BYTES: Final = 4096
_SCHEME: Final = "bearer "


class TokenFile:
    """The token, read at every call: a Secret that is rotated changes the file in a pod."""

    def __init__(self, path: Path) -> None:
        """Raise `NotReady` where the file cannot be read, `WrongUse` where it says too little."""
        self._path = path
        try:
            token = self._read()
        except (OSError, ValueError) as problem:
            raise NotReady(
                "the token file cannot be read",
                where=str(path),
                seen=str(problem),
                remedy="mount the Secret there, or give --token-file another file",
            ) from problem
        if len(token) < LEAST:
            raise WrongUse(
                "the token is too short",
                where=str(path),
                seen=f"{len(token)} characters",
                remedy=f"put {LEAST} characters or more into the file, at random",
            )

    def require(self, authorization: str, own_header: str) -> None:
        """Raise `Refusal` unless one of the two headers has the token.

        The second one is there because the API server's proxy does not pass the first one on.
        """
        shown = own_header
        if not shown and authorization.lower().startswith(_SCHEME):
            shown = authorization[len(_SCHEME) :]
        if not hmac.compare_digest(shown.strip().encode(), self._now().encode()):
            raise Refusal(
                HTTPStatus.UNAUTHORIZED,
                "the token is wrong" if shown else "there is no token",
                where="the headers Authorization and X-Gpulab-Token",
                remedy="send Authorization: Bearer <token> or, behind the API server's proxy, "
                "X-Gpulab-Token: <token>",
            )

    def _now(self) -> str:
        try:
            token = self._read()
        except (OSError, ValueError) as problem:
            token, seen = "", str(problem)
        else:
            seen = f"{len(token)} characters"
        if len(token) < LEAST:
            raise Refusal(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "the plugin has no token at the moment, and lets nobody in",
                where=str(self._path),
                seen=seen,
                remedy=f"put {LEAST} characters or more into the file",
            )
        return token

    def _read(self) -> str:
        with open_regular(self._path) as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES} bytes")
        return text.decode().strip()
