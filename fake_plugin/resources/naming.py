"""Which names an extended resource may have.

The rule is the kubelet's own, applied when a plugin registers (Kubernetes
pkg/apis/core/v1/helper/helpers.go, IsExtendedResourceName): a name that breaks it is refused at
registration, or worse, shows nowhere. It lives in the plugin because the lab may import the
plugin but not the other way round.
"""

import re
from typing import Final

_PREFIX_LIMIT: Final = 253 - len("requests.")
_NAME_LIMIT: Final = 63
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME: Final = re.compile(r"[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?")


def broken_rule(resource: str) -> str | None:
    """Return the rule that the name breaks, as a sentence, or None where it is a valid name."""
    prefix, slash, name = resource.partition("/")
    if not slash:
        return "needs a vendor domain before a slash, as in example.com/device"
    if "kubernetes.io/" in resource:
        return "must not be under kubernetes.io, which belongs to Kubernetes"
    if resource.startswith("requests."):
        return 'must not start with "requests.", which quotas use'
    if len(prefix) > _PREFIX_LIMIT or not _SUBDOMAIN.fullmatch(prefix):
        return (
            f"the part before the slash must be a lower-case DNS subdomain "
            f"of at most {_PREFIX_LIMIT} characters"
        )
    if len(name) > _NAME_LIMIT or not _NAME.fullmatch(name):
        return (
            f"the part after the slash must have 1 to {_NAME_LIMIT} characters: letters, digits, "
            "'-', '_' or '.', with a letter or digit at both ends"
        )
    return None
