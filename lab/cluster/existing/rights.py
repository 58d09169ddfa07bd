"""What a lab has to be allowed to do in a cluster, asked of the cluster before anything is done.

The server is asked about each right by itself (SelfSubjectAccessReview), which it answers for
everybody, so that all that is missing is known at once.
"""

import shlex
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import yaml

from lab.core.errors import NotReady

if TYPE_CHECKING:
    from lab.cluster.client import Client

_KUBE_SYSTEM: Final = "kube-system"
_REVIEW: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_WHO: Final = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_ACCOUNT: Final = "system:serviceaccount:"
#: That many questions are asked at once.
_AT_ONCE: Final = 8
ROLE: Final = "gpu-lab"


@dataclass(frozen=True)
class Right:
    """Verbs on a resource of an API group, in a namespace or, with "", in the whole cluster."""

    group: str
    resource: str
    verbs: tuple[str, ...]
    namespace: str = ""

    def __str__(self) -> str:
        """Return the right as `kubectl auth can-i` names it."""
        named = f"{self.resource}.{self.group}" if self.group else self.resource
        place = f" in {self.namespace}" if self.namespace else ""
        return f"{', '.join(self.verbs)} {named}{place}"


#: An object that is applied must be created where it is not there, and patched where it is.
_APPLIED: Final = ("get", "create", "patch", "delete")
NEEDED: Final = (
    Right("", "nodes", ("get", "list", "watch", "patch")),
    Right("", "pods", ("list",)),
    Right("", "namespaces", ("get",), _KUBE_SYSTEM),
    Right("", "secrets", _APPLIED, _KUBE_SYSTEM),
    Right("", "configmaps", _APPLIED, _KUBE_SYSTEM),
    Right("apps", "daemonsets", _APPLIED, _KUBE_SYSTEM),
    Right("", "pods", ("get", "list", "watch"), _KUBE_SYSTEM),
    Right("", "pods/log", ("get",), _KUBE_SYSTEM),
    # The verb of the proxy is that of the HTTP method.
    Right("", "pods/proxy", ("get", "create", "delete"), _KUBE_SYSTEM),
)


def require_rights(client: "Client", needed: Sequence[Right] = NEEDED) -> None:
    """Raise `NotReady` with all rights that this user lacks, and a role that has them."""
    missing = missing_rights(client, needed)
    if not missing:
        return
    user = client.connection.send("POST", _WHO, body=_review("authentication", "SelfSubject"))
    name = str(user["status"]["userInfo"]["username"])
    raise NotReady(
        f"the user {name!r} may not do in the cluster what a lab needs",
        seen="\n".join(f"not allowed: {each}" for each in missing),
        remedy="nothing was changed; have an administrator create this role, and bind it to the "
        f"user:\n{cluster_role(needed)}",
        commands=(_binding(name),),
    )


def missing_rights(client: "Client", needed: Sequence[Right]) -> tuple[Right, ...]:
    """Return what this user is not allowed to do, with just the verbs that are missing."""
    asked = [(right, verb) for right in needed for verb in right.verbs]
    with ThreadPoolExecutor(_AT_ONCE) as askers:
        allowed = list(askers.map(lambda each: _is_allowed(client, *each), asked))
    denied = [each for each, may in zip(asked, allowed, strict=True) if not may]
    return tuple(
        replace(right, verbs=verbs)
        for right in needed
        if (verbs := tuple(verb for each, verb in denied if each == right))
    )


def cluster_role(rights: Sequence[Right]) -> str:
    """Return a ClusterRole with these rights, as YAML; one for a namespace is for all of them."""
    rules = [
        {"apiGroups": [each.group], "resources": [each.resource], "verbs": list(each.verbs)}
        for each in rights
    ]
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": ROLE},
        "rules": rules,
    }
    return yaml.safe_dump(role, sort_keys=False, default_flow_style=None)


def _is_allowed(client: "Client", right: Right, verb: str) -> bool:
    resource, _, part = right.resource.partition("/")
    attributes = {
        "group": right.group,
        "resource": resource,
        "subresource": part,
        "verb": verb,
        "namespace": right.namespace,
    }
    body = _review("authorization", "SelfSubjectAccess", resourceAttributes=attributes)
    return bool(client.connection.send("POST", _REVIEW, body=body)["status"]["allowed"])


def _review(group: str, kind: str, **spec: object) -> dict[str, object]:
    version = f"{group}.k8s.io/v1"
    return {"apiVersion": version, "kind": f"{kind}Review", **({"spec": spec} if spec else {})}


def _binding(user: str) -> str:
    """Return the command that gives the role to a user, or to a pod's account."""
    whom = f"--user={user}"
    if user.startswith(_ACCOUNT):
        whom = f"--serviceaccount={user.removeprefix(_ACCOUNT)}"
    return shlex.join(
        ("kubectl", "create", "clusterrolebinding", ROLE, f"--clusterrole={ROLE}", whom)
    )
