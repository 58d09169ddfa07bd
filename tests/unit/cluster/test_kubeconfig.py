"""One context of a user's kubeconfig, as a file of the lab's own."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.cluster.existing.kubeconfig import read_context
from lab.core.errors import UsageError

USERS: dict[str, Any] = {"jane": {"token": "t"}, "joe": {"tokenFile": "joe.token"}}
REMEDY = "name a kubeconfig that is there, and one of its contexts"


def config(**parts: Any) -> dict[str, Any]:  # noqa: ANN401 - any YAML
    """Return a kubeconfig of two clusters, `here` being the current context."""
    contexts = {"here": ("near", "jane"), "there": ("far", "joe")}
    whole = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [
            {"name": name, "context": {"cluster": cluster, "user": user}}
            for name, (cluster, user) in contexts.items()
        ],
        "clusters": [
            {"name": name, "cluster": {"server": f"https://{name}"}} for name in ("near", "far")
        ],
        "users": [{"name": name, "user": user} for name, user in USERS.items()],
    }
    return whole | parts


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Return what writes a kubeconfig."""
    file = tmp_path / "config"

    def write(**parts: object) -> Path:
        file.write_text(yaml.safe_dump(config(**parts)))
        return file

    return write


@pytest.mark.parametrize(("asked", "name"), [(None, "here"), ("here", "here"), ("there", "there")])
def test_one_context_is_taken_with_what_it_names(
    written: Callable[..., Path], asked: str | None, name: str
) -> None:
    """The current one, if none is asked for; nothing of the others is in the copy."""
    found = read_context(written(), asked)
    text = yaml.safe_load(found.text)
    assert (found.name, text["current-context"]) == (name, name)
    near = name == "here"
    (context,), (cluster,), (user,) = (text[each] for each in ("contexts", "clusters", "users"))
    assert context["name"] == name
    assert (cluster["name"], user["name"]) == (("near", "jane") if near else ("far", "joe"))
    assert cluster["cluster"] == {"server": f"https://{cluster['name']}"}


def test_the_users_file_is_only_read(written: Callable[..., Path]) -> None:
    """To the byte."""
    file = written()
    before = file.read_bytes()
    read_context(file, "there")
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("kind", "name", "key"),
    [
        ("user", "jane", "client-certificate"),
        ("user", "jane", "client-key"),
        ("cluster", "near", "certificate-authority"),
    ],
)
def test_files_that_it_names_come_along(
    written: Callable[..., Path], tmp_path: Path, kind: str, name: str, key: str
) -> None:
    """Found beside the kubeconfig; the copy lies elsewhere."""
    (tmp_path / "pem").write_bytes(b"secret")
    file = written(**{f"{kind}s": [{"name": name, kind: {key: "pem"}}]})
    (found,) = yaml.safe_load(read_context(file, None).text)[f"{kind}s"]
    assert found[kind] == {f"{key}-data": base64.b64encode(b"secret").decode()}


@pytest.mark.parametrize(
    ("user", "copied"),
    [
        ({"tokenFile": "t"}, {"tokenFile": "{}/t"}),
        ({"tokenFile": "/t"}, {"tokenFile": "/t"}),
        ({"exec": {"command": "./login"}}, {"exec": {"command": "{}/login"}}),
        ({"exec": {"command": "aws"}}, {"exec": {"command": "aws"}}),
    ],
)
def test_what_is_asked_again_later_is_named_by_its_whole_path(
    written: Callable[..., Path], tmp_path: Path, user: dict[str, Any], copied: dict[str, Any]
) -> None:
    """A token that is renewed, and a program that logs in; one on the PATH is found there."""
    file = written(users=[{"name": "jane", "user": user}])
    (found,) = yaml.safe_load(read_context(file, None).text)["users"]
    assert repr(found["user"]) == repr(copied).replace("{}", str(tmp_path))


@pytest.mark.parametrize(
    ("parts", "context", "what", "seen"),
    [
        ({}, "prod", "the kubeconfig has no context 'prod'", "contexts that it has: here, there"),
        ({"current-context": ""}, None, "the kubeconfig has no context set", "here, there"),
        ({"users": []}, None, "the kubeconfig has no user 'jane'", "users that it has: none"),
        ({"clusters": None}, "there", "the kubeconfig has no cluster 'far'", "none"),
        ({"clusters": [7, {"name": "near"}]}, None, "has no cluster 'near'", "near"),
        ({"contexts": "x"}, None, "the kubeconfig has no context 'here'", "none"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(
    written: Callable[..., Path], parts: dict[str, Any], context: str | None, what: str, seen: str
) -> None:
    """And what to give instead."""
    file = written(**parts)
    with pytest.raises(UsageError) as raised:
        read_context(file, context)
    error = raised.value
    assert what in error.what
    assert (error.where, error.remedy) == (str(file), REMEDY)
    assert error.seen.endswith(seen)


@pytest.mark.parametrize("content", [None, b"[1]", b"a: [", b"\xff", b""])
def test_what_is_no_kubeconfig_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """Missing, no mapping, no YAML, no text."""
    file = tmp_path / "config"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match="the kubeconfig cannot be read"):
        read_context(file, None)


def test_a_file_that_it_names_and_is_not_there_is_told(written: Callable[..., Path]) -> None:
    """With the key that names it."""
    file = written(users=[{"name": "jane", "user": {"client-key": "gone.pem"}}])
    with pytest.raises(UsageError, match="names as client-key cannot be read") as raised:
        read_context(file, None)
    assert "gone.pem" in raised.value.seen
