"""By what names secrets go: of keys, of variables of the environment, of options, of headers."""

import re
from functools import lru_cache
from typing import Final

_WORDS: Final = (
    "authorization",
    "cookie",
    "cred",
    "credential",
    "docker_?config_?json",
    "pass_?code",
    "pass_?phrase",
    "pass_?wd",
    "pass_?word",
    "secret",
    "token",
)
#: What makes a secret of a key: that of a label, of a taint, or of a map is none.
_KEYS: Final = (
    *("access", "account", "api", "auth", "client", "deploy", "encryption", "license", "master"),
    *("private", "secret", "server", "session", "shared", "signing", "ssh", "ssl", "storage"),
    *("subscription", "tls", "webhook"),
)
#: Behind another word alone: `PWD` is a folder, and a check may pass.
_BEHIND: Final = ("pass", "pwd")
_SECRET: Final = re.compile(
    rf"(?:{'|'.join(_WORDS)})s?(?:_|$)"
    rf"|(?:{'|'.join(_KEYS)})_?keys?(?:_|$)"
    rf"|_(?:{'|'.join(_BEHIND)})(?:_|$)"
)
#: In the environment, a key is most often one that opens something; databases are told a `Pwd`.
_BY_CASE: Final = re.compile(
    r"Pwd|(?!.*(?:ANNOTATION|CACHE|LABEL|PRIMARY|PUBLIC|RESOURCE|SORT|TAINT|TOPOLOGY)_KEY)"
    r"[A-Z0-9_]*_KEYS?"
)
#: What a name ends with that says where a secret is, how long it lasts, or of what kind it is.
_ABOUT: Final = (
    *("address", "age", "algorithm", "allowed", "at", "audience", "backend", "bucket", "budget"),
    *("bytes", "class", "config", "count", "date", "days", "dir", "directory", "domain", "driver"),
    *(
        "duration",
        "enabled",
        "endpoint",
        "error",
        "expiration",
        "expiry",
        "field",
        "file",
        "folder",
    ),
    *("format", "header", "host", "hour", "interval", "issuer", "kind", "length", "limit"),
    *("manager", "minute", "mode", "mount", "ms", "name", "namespace", "number", "path", "period"),
    *("policy", "port", "prefix", "provider", "pull_secret", "rate", "reason", "ref", "reference"),
    *("region", "request", "required", "scope", "sec", "second", "selector", "size", "state"),
    *("status", "store", "time", "timeout", "total", "ttl", "type", "uri", "url", "usage"),
    *("version", "volume"),
)
_ABOUT_ONE: Final = re.compile(rf"_(?:(?:file|host|life|user)?(?:{'|'.join(_ABOUT)}))s?$")
_PASSWORD: Final = re.compile(r"pass|pwd")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
#: A name is no longer; what runs on before it is something else.
_LONGEST: Final = 128


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Tell whether what has this name is a secret: `PGPASSWORD`, `apiKey`, `--hf-token`.

    `secretName`, `tokenExpirationSeconds` and the like only tell of one.
    """
    words = _words(name)
    if _ABOUT_ONE.search(words):
        return False
    return bool(_SECRET.search(words) or _BY_CASE.fullmatch(name))


def may_be_counted(name: str) -> bool:
    """Tell whether a number may be that of such secrets, as of tokens, and not a secret itself."""
    return not _PASSWORD.search(_words(name))


def is_cookie(name: str) -> bool:
    """Tell whether it is the name of a header with cookies, which fill their line."""
    return _words(name).endswith("cookie")


def _words(name: str) -> str:
    return "_".join(_WORD.findall(name[-_LONGEST:])).lower()
