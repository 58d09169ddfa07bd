"""The format of NVIDIA's own plugin configuration: which keys there are, and what they may say.

Source of the keys and their defaults: NVIDIA/k8s-device-plugin, api/config/v1. Three kinds of keys:
those that are acted on; those that upstream's plugin reads and has no use for, which pass; and
those about files that fake hardware does not have, which pass with their default and are refused
with another value. All others are refused: upstream lets some of them through without a word, and
a sharing that is silently not there teaches the wrong lesson (NVIDIA/k8s-device-plugin#1433).
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, get_args

from fake_plugin.fleet.broken_rule import BrokenRule, Path
from fake_plugin.plan import (
    MOST_OF_A_CARD,
    IdStrategy,
    ListStrategy,
    PartitionStrategy,
    ReplicaPolicy,
)

#: Returns the rule that a value breaks, or None.
_Check: TypeAlias = Callable[[object], str | None]
_Shape: TypeAlias = "Mapping[str, _Shape | _Check | _Each]"


@dataclass(frozen=True)
class _Each:
    """A list whose entries have a shape."""

    shape: _Shape


def _flag(value: object) -> str | None:
    return None if isinstance(value, bool) else "must be true or false"


def _text(value: object) -> str | None:
    return None if isinstance(value, str) and value else "must be text"


def _replicas(value: object) -> str | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return (
        None
        if whole and value in range(2, MOST_OF_A_CARD + 1)
        else f"must be 2 to {MOST_OF_A_CARD}"
    )


def _one_of(*texts: str) -> _Check:
    rule = f"must be {' or '.join(texts)}"
    return lambda value: None if value in texts else rule


def _some_of(*texts: str) -> _Check:
    def check(value: object) -> str | None:
        values = value if isinstance(value, list) else [value]
        known = values and all(each in texts for each in values)
        return None if known else f"must be one or some of {', '.join(texts)}"

    return check


def _default_only(default: object) -> _Check:
    leave = f"leave it out, or at {_as_written(default)}"
    rule = f"fake hardware has nothing that it could change: {leave}"
    return lambda value: None if value == default else rule


def _as_written(value: object) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)


def _passed_over(value: object) -> None:
    del value


_SHARED: Final[_Shape] = {
    "renameByDefault": _flag,
    "failRequestsGreaterThanOne": _flag,
    "resources": _Each(
        {"name": _text, "replicas": _replicas, "rename": _passed_over, "devices": _passed_over}
    ),
}
_SHAPE: Final[_Shape] = {
    "version": _one_of("v1"),
    "flags": {
        "migStrategy": _one_of(*get_args(PartitionStrategy)),
        "failOnInitError": _default_only(default=True),
        "nvidiaDriverRoot": _default_only("/"),
        "nvidiaDevRoot": _default_only("/"),
        "mpsRoot": _default_only("/run/nvidia/mps"),
        "deviceDiscoveryStrategy": _default_only("auto"),
        "gdsEnabled": _flag,
        "mofedEnabled": _flag,
        "gdrcopyEnabled": _flag,
        "useNodeFeatureAPI": _passed_over,
        "plugin": {
            "passDeviceSpecs": _flag,
            "deviceListStrategy": _some_of(*get_args(ListStrategy)),
            "deviceIDStrategy": _one_of(*get_args(IdStrategy)),
            "cdiAnnotationPrefix": _text,
            "sharedDevicesAllocationPolicy": _one_of(*get_args(ReplicaPolicy)),
            "nvidiaCTKPath": _default_only("/usr/bin/nvidia-ctk"),
            "containerDriverRoot": _default_only("/driver-root"),
        },
        "gfd": dict.fromkeys(
            ("oneshot", "noTimestamp", "sleepInterval", "outputFile", "machineTypeFile"),
            _passed_over,
        ),
    },
    "sharing": {"timeSlicing": _SHARED, "mps": _SHARED},
    "imex": {"channelIDs": _default_only([]), "required": _default_only(default=False)},
    "resources": _passed_over,
}
_SHOWN_CHARACTERS: Final = 60


def strangers_and_misfits(config: dict[object, object]) -> Iterator[BrokenRule]:
    """Yield each key that is not of the format, and each value that its key does not take."""
    return _walk(config, _SHAPE, ())


def _walk(value: dict[object, object], shape: _Shape, path: Path) -> Iterator[BrokenRule]:
    for key, inner in value.items():
        here = (*path, str(key))
        wanted = shape.get(str(key))
        if wanted is None:
            yield BrokenRule(
                here, "is not a key of this place", remedy=_suggestion(str(key), shape)
            )
        elif isinstance(wanted, _Each):
            yield from _walk_list(inner, wanted.shape, here)
        elif callable(wanted):
            if rule := wanted(inner):
                yield BrokenRule(here, _seen(inner), rule)
        elif isinstance(inner, dict):
            yield from _walk(inner, wanted, here)
        else:
            yield BrokenRule(here, _seen(inner), "must be a mapping")


def _walk_list(value: object, shape: _Shape, path: Path) -> Iterator[BrokenRule]:
    if not isinstance(value, list):
        yield BrokenRule(path, _seen(value), "must be a list of mappings")
        return
    for at, entry in enumerate(value):
        if isinstance(entry, dict):
            yield from _walk(entry, shape, (*path, at))
        else:
            yield BrokenRule((*path, at), _seen(entry), "must be a mapping")


def _suggestion(key: str, shape: _Shape) -> str:
    places = [place for place in _places(_SHAPE, "") if place.rpartition(".")[2] == key]
    if places:
        return f"it belongs at {' or '.join(places)}"
    import difflib  # noqa: PLC0415 - for an error alone

    if close := difflib.get_close_matches(key, shape, n=1):
        return f"did you mean {close[0]}?"
    return f"known here: {', '.join(shape)}"


def _places(shape: _Shape, path: str) -> Iterator[str]:
    for key, inner in shape.items():
        here = f"{path}.{key}".lstrip(".")
        yield here
        if isinstance(inner, _Each):
            yield from _places(inner.shape, f"{here}[]")
        elif not callable(inner):
            yield from _places(inner, here)


def _seen(value: object) -> str:
    text = _as_written(value)
    return f"is {text[:_SHOWN_CHARACTERS]}…" if len(text) > _SHOWN_CHARACTERS else f"is {text}"
