"""How secrets look that can be told wherever they stand, by those who issue them."""

import re
from collections.abc import Sequence
from typing import Final

_BEGIN: Final = r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
#: Up to its end; of one that was cut off, the lines of letters and digits that are there.
_PRIVATE_KEY: Final = (
    rf"{_BEGIN}"
    r"(?:(?:(?!-----(?:BEGIN|END) )[\s\S])*+-----END [A-Z0-9 ]*-----"
    r"|(?:(?:\s|\\[nrt])*+[A-Za-z0-9+/=]{16,}+)*+)"
)
#: The same behind base64, as kubeconfigs and Secrets have it; a certificate is none.
_ENCODED_KEY: Final = r"LS0tLS1CRUdJTi(?!BDRVJU)[A-Za-z0-9+/]{16,}={0,2}"
_WEB: Final = r"eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*){0,3}"
_ISSUED: Final[Sequence[str]] = (
    r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",  # AWS
    r"AIza[\w-]{35}",  # Google
    r"GOCSPX-[\w-]{20,}",
    r"ya29\.[\w-]{20,}",
    r"LTAI[A-Za-z0-9]{12,}",  # Alibaba Cloud
    r"dckr_(?:pat|oat)_[\w-]{20,}",  # Docker
    r"gh[opsur]_[A-Za-z0-9]{20,}",  # GitHub
    r"github_pat_\w{20,}",
    r"gl(?:agent|cbt|dt|ft|imt|oas|pat|ptt|rt|soat)-[\w.-]{16,}",  # GitLab
    r"hf_[A-Za-z0-9]{20,}",  # Hugging Face
    r"hv[bs]\.[\w-]{20,}",  # Vault
    r"npm_[A-Za-z0-9]{30,}",
    r"nvapi-[\w-]{20,}",  # NVIDIA
    r"pypi-[\w-]{40,}",
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",  # Stripe
    r"sk-(?:ant|admin|proj|svcacct)-[\w-]{16,}",  # Anthropic, OpenAI
    r"sk-[A-Za-z0-9]{32,}",
    r"xox[a-z]-[\w-]{10,}",  # Slack
    r"xapp-[\w-]{10,}",
    r"(?<=hooks\.slack\.com/services/)[\w/]{20,}",
)
#: A word may begin behind the sign for the end of a line.
_BEHIND_SIGN: Final = r"(?<=\\[nrt])"
_SECRET: Final = re.compile(
    rf"{_PRIVATE_KEY}"
    rf"|(?:(?<![\w-])|{_BEHIND_SIGN}){_WEB}"
    rf"|(?:(?<![A-Za-z0-9])|{_BEHIND_SIGN})(?:{'|'.join((_ENCODED_KEY, *_ISSUED))})"
    r"|(?i:(?<=bearer )[\w.~+/=-]{16,})"
)
#: What stands before the host of an address: a password, whose user may stay, or a token. Not every
#: password is written as an address wants it; but a port and a path come before some `@` as well.
_LOGIN: Final = re.compile(
    r"""(?P<user>[A-Za-z]://[^\s:/?#@"'`<>[]*:)"""
    r"""(?:[^\s/?#"'`<>]{1,1024}|(?!\d{1,5}[/?#])(?:(?!://)[^\s@"'`<>]){1,1024})"""
    r"""(?=@(?!sha256:))"""
    r"""|(?P<scheme>[A-Za-z]://)[^\s:/?#@"'`<>]{16,}(?=@)"""
)


def without_shapes(text: str, removed: str) -> str:
    """Return a text with `removed` in the place of all that looks like a secret by itself."""
    text = _SECRET.sub(removed, text)
    return _LOGIN.sub(lambda found: f"{found['user'] or found['scheme']}{removed}", text)
