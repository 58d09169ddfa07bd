"""What an unknown key was probably meant to be: another spelling, or another place."""

import difflib
from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Final, Union, get_args, get_origin

from pydantic import BaseModel

from lab.core.fleet.document import FleetDocument

#: How alike two words must be, between 0 and 1; more so where the word is a key of another place.
_ALIKE: Final = 0.75
_MORE_ALIKE: Final = 0.85
#: What other programs call it. A `renameByDefault` one level off is a classic of NVIDIA's plugin.
_ELSEWHERE: Final = {"renamebydefault": "rename", "gpus": "count", "replica": "replicas"}


def known_keys(model: type[BaseModel] = FleetDocument, at: str = "") -> dict[str, tuple[str, ...]]:
    """Return the keys that belong at each place of the format, such as `pools[].sharing`."""
    fields = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    places = {at: tuple(fields)}
    for key, annotation in fields.items():
        for inner, suffix in _models_in(annotation):
            places |= known_keys(inner, f"{at}.{key}{suffix}".removeprefix("."))
    return places


def suggestion(key: str, place: str) -> str:
    """Return what to do about an unknown key at a place, as a remedy."""
    places = _places()
    word = _ELSEWHERE.get(_normal(key), key)
    elsewhere = any(word in keys for keys in places.values())
    here = _closest(word, places[place], _MORE_ALIKE if elsewhere else _ALIKE)
    if here:
        return f"did you mean {here}?"
    cutoff = 1.0 if elsewhere else _ALIKE
    matches = {there: _closest(word, keys, cutoff) for there, keys in places.items()}
    meant = [f"{there}.{match}".lstrip(".") for there, match in matches.items() if match]
    if meant:
        return f"it belongs at {' or '.join(meant)}"
    return f"known here: {', '.join(places[place])}"


@cache
def _places() -> Mapping[str, tuple[str, ...]]:
    return known_keys()


def _closest(key: str, known: tuple[str, ...], cutoff: float) -> str | None:
    spellings: Mapping[str, str] = {_normal(each): each for each in known}
    close = difflib.get_close_matches(_normal(key), spellings, n=1, cutoff=cutoff)
    return spellings[close[0]] if close else None


def _normal(key: str) -> str:
    return "".join(each for each in key.casefold() if each.isalnum())


def _models_in(annotation: object, suffix: str = "") -> Iterator[tuple[type[BaseModel], str]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, suffix
    elif get_origin(annotation) is list:
        yield from _models_in(get_args(annotation)[0], f"{suffix}[]")
    elif get_origin(annotation) in {Annotated, Union, UnionType}:
        for part in get_args(annotation):
            yield from _models_in(part, suffix)
