"""The kind configuration of a lab: the user's file, plus what the fleet and the lab need.

Added are workers that the fleet asks for and the file lacks, and one read-only mount per node.
The mount is the mark of ownership: it is there from a container's first moment, shows in
`docker inspect` whether the node runs or not, and kind offers no labels of one's own.
"""

from pathlib import Path
from typing import Annotated, Final, Literal, TypedDict, cast

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from lab.core.errors import UsageError
from lab.core.fleet.findings import dotted
from lab.core.fleet.text import MOST_BYTES
from lab.core.fleet.tree import DEEPEST, MOST_VALUES

#: Where the mark is mounted in every node.
OWNER_MOUNT: Final = "/etc/gpu-lab"
_API_VERSION: Final = "kind.x-k8s.io/v1alpha4"

#: What the repository's kind-config.yaml says too (a test compares them): one control plane and
#: one worker, as in the chapter. Kubelets report node status every second instead of every ten,
#: so that what a plugin says is seen at once.
DEFAULT: Final = f"""\
kind: Cluster
apiVersion: {_API_VERSION}
nodes:
- role: control-plane
- role: worker
kubeadmConfigPatches:
- |
  kind: KubeletConfiguration
  nodeStatusUpdateFrequency: 1s
"""

Role = Literal["control-plane", "worker"]


class KindNode(TypedDict):
    """A node of a configuration; kind's other keys stand beside these."""

    role: Role
    extraMounts: list[dict[str, object]]


class KindConfig(TypedDict):
    """A whole configuration; kind's other keys stand beside this one."""

    nodes: list[KindNode]


def _or_empty(value: object) -> object:
    return [] if value is None else value


def _or_what_kind_makes(value: object) -> object:
    return [{}] if value in (None, []) else value


class _Entry(BaseModel):
    # What the lab does not look at is kind's to judge, in its own words and of its own version.
    model_config = ConfigDict(extra="allow", strict=True, validate_default=True)


class _Node(_Entry):
    # kind's own default for a node that has none.
    role: Role = "control-plane"
    extra_mounts: Annotated[
        list[dict[str, object]], BeforeValidator(_or_empty), Field(alias="extraMounts")
    ] = []


class _Document(_Entry):
    kind: Literal["Cluster"]
    api_version: Annotated[Literal["kind.x-k8s.io/v1alpha4"], Field(alias="apiVersion")]
    nodes: Annotated[list[_Node], BeforeValidator(_or_what_kind_makes)] = []


#: What each key must be and how to make it so, from the inmost one outwards.
_RULES: Final = {
    "invalid_key": (
        "the keys of a kind configuration are words",
        "correct the key, or put it between quotation marks",
    ),
    "extraMounts": (
        "`extraMounts` of a node must be a list of mounts",
        "write `- {hostPath: /here, containerPath: /there}` for each mount",
    ),
    "role": (
        "the role of a node must be control-plane or worker",
        "write `role: control-plane` or `role: worker`",
    ),
    "nodes": (
        "`nodes` must be a list of nodes, each with a role",
        "write `- role: control-plane` or `- role: worker` for each node",
    ),
    "apiVersion": (
        f"the configuration's apiVersion must be {_API_VERSION}",
        f"write `apiVersion: {_API_VERSION}`",
    ),
    "kind": (
        "a kind configuration begins with `kind: Cluster`",
        f"begin it with `kind: Cluster` and `apiVersion: {_API_VERSION}`, or name another file",
    ),
}


#: PyYAML lets pass what int(), datetime() and the like raise on absurd values.
_NO_YAML: Final = (
    OSError,
    yaml.YAMLError,
    ValueError,
    LookupError,
    ArithmeticError,
    AttributeError,
)
_TOO_DEEP: Final = f"the values are nested too deeply: at most {DEEPEST} levels"
_WIDEST_NUMBER: Final = 64


def load(path: Path | None) -> KindConfig:
    """Return the configuration in the file, or the default; raises `UsageError`."""
    if path is None:
        return _checked(yaml.safe_load(DEFAULT), "the default configuration")
    try:
        return _checked(_sane(yaml.safe_load(_text(path))), str(path))
    except RecursionError as error:
        raise _unreadable(path, _TOO_DEEP) from error
    except _NO_YAML as error:
        raise _unreadable(path, str(error) or type(error).__name__) from error


def _text(path: Path) -> str:
    with path.open("rb") as file:
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise ValueError(f"the file has more than {MOST_BYTES} bytes")
    return raw.decode("utf-8")


def _sane(loaded: object) -> object:
    """Return what was loaded; raises `ValueError` where kind could not be given it again."""
    left = [(loaded, 0)]
    for _ in range(MOST_VALUES):
        if not left:
            return loaded
        value, depth = left.pop()
        if depth > DEEPEST:
            raise ValueError(_TOO_DEEP)
        if isinstance(value, int) and value.bit_length() > _WIDEST_NUMBER:
            raise ValueError(f"a number has more than {_WIDEST_NUMBER} bits")
        if isinstance(value, dict | list):
            inner = value.values() if isinstance(value, dict) else value
            left.extend((each, depth + 1) for each in inner)
    raise ValueError(f"the file has more than {MOST_VALUES} values, aliases counted")


def _unreadable(path: Path, seen: str) -> UsageError:
    return UsageError(
        "the kind configuration cannot be read",
        where=str(path),
        seen=seen,
        remedy="correct the file, or name another one with --kind-config",
    )


def _checked(loaded: object, where: str) -> KindConfig:
    try:
        document = _Document.model_validate(loaded)
    except ValidationError as error:
        raise _broken_rule(error.errors(include_url=False)[0], where) from error
    return cast("KindConfig", document.model_dump(by_alias=True))


def _broken_rule(error: ErrorDetails, where: str) -> UsageError:
    path = error["loc"] or ("kind",)
    what, remedy = next(rule for key, rule in _RULES.items() if key in (error["type"], *path))
    missing = error["type"] == "missing" or error["input"] is None
    seen = "there is none" if missing else str(error["input"])
    # One node of many is at fault.
    place = f"{dotted(path)}: " if len(path) > 1 else ""
    return UsageError(what, where=where, seen=place + seen, remedy=remedy)


def workers(config: KindConfig) -> int:
    """Return how many workers the configuration has."""
    return sum(node["role"] == "worker" for node in config["nodes"])


def for_lab(config: KindConfig, *, wanted_workers: int, owner_mark: Path) -> KindConfig:
    """Return the configuration with the missing workers and the mark of ownership."""
    missing = max(0, wanted_workers - workers(config))
    added: list[KindNode] = [{"role": "worker", "extraMounts": []} for _ in range(missing)]
    mark = {"hostPath": str(owner_mark), "containerPath": OWNER_MOUNT, "readOnly": True}
    nodes = [*config["nodes"], *added]
    marked: list[KindNode] = [
        {**node, "extraMounts": [*node["extraMounts"], mark]} for node in nodes
    ]
    return {**config, "nodes": marked}
