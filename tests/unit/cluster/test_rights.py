"""Rights in a cluster, asked for before anything is done in it."""

from typing import Any

import pytest
import yaml

from lab.cluster.client import Client
from lab.cluster.existing.rights import NEEDED, cluster_role, missing_rights, require_rights
from lab.core.errors import NotReady
from tests.unit.stand_ins.api_server import FakeApi


def asked(api: FakeApi) -> list[dict[str, Any]]:
    """Return the attributes of each right that the server was asked about."""
    reviews = [each for each in api.requests if each.path.endswith("accessreviews")]
    return [each.body["spec"]["resourceAttributes"] for each in reviews]


def test_every_verb_is_asked_about_and_nothing_else(client: Client, api: FakeApi) -> None:
    """Each by itself, in its namespace or the whole cluster."""
    require_rights(client)
    assert len(asked(api)) == sum(len(each.verbs) for each in NEEDED)
    assert {request.method for request in api.requests} == {"POST"}
    logs = [each for each in asked(api) if each["subresource"] == "log"]
    wanted = {"group": "", "resource": "pods", "subresource": "log", "verb": "get"}
    assert logs == [{**wanted, "namespace": "kube-system"}]
    nodes = [each["namespace"] for each in asked(api) if each["resource"] == "nodes"]
    assert set(nodes) == {""}


def test_all_that_is_missing_is_told_at_once(client: Client, api: FakeApi) -> None:
    """With just the verbs that are missing."""
    api.denied = {("patch", "nodes"), ("create", "secrets"), ("delete", "secrets")}
    missing = missing_rights(client, NEEDED)
    assert [str(each) for each in missing] == [
        "patch nodes",
        "create, delete secrets in kube-system",
    ]


@pytest.mark.parametrize(
    ("user", "whom"),
    [
        ("jane", "--user=jane"),
        ("system:serviceaccount:ci:runner", "--serviceaccount=ci:runner"),
        ("jane doe", "'--user=jane doe'"),
    ],
)
def test_the_error_has_a_role_to_paste(client: Client, api: FakeApi, user: str, whom: str) -> None:
    """An administrator needs nothing else."""
    api.user, api.denied = user, {("create", "daemonsets")}
    with pytest.raises(NotReady) as raised:
        require_rights(client)
    error = raised.value
    assert error.what == f"the user {user!r} may not do in the cluster what a lab needs"
    assert error.seen == "not allowed: create daemonsets.apps in kube-system"
    assert cluster_role(NEEDED) in error.remedy
    binding = "kubectl create clusterrolebinding gpu-lab --clusterrole=gpu-lab"
    assert error.commands == (f"{binding} {whom}",)


def test_the_role_has_all_rights() -> None:
    """As YAML, which stays that where it is indented."""
    role = yaml.safe_load(cluster_role(NEEDED))
    assert (role["kind"], role["metadata"]["name"]) == ("ClusterRole", "gpu-lab")
    rules = [(rule["apiGroups"][0], rule["resources"][0], rule["verbs"]) for rule in role["rules"]]
    assert rules == [(each.group, each.resource, list(each.verbs)) for each in NEEDED]
