"""A YAML document, read within bounds, and with every key once in its mapping."""

from collections.abc import Hashable
from typing import Final

import yaml

from fake_plugin.shortening import cut

try:
    # A fleet may name thousands of nodes: libyaml takes a tenth of the time where it is there.
    from yaml import CSafeLoader as SafeLoader
except ImportError:
    from yaml import SafeLoader  # type: ignore[assignment]  # the same loader, in Python

__all__ = ["UNREADABLE", "SafeLoader", "read_document", "why_unreadable"]

#: What PyYAML raises for a file. Where a value does not fit its tag, as in `!!bool maybe` or
#: `!!timestamp soon`, that is whatever its parts ran into.
UNREADABLE: Final = (
    yaml.YAMLError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
#: More than any fleet says: ten aliases of ten aliases of ten are soon too many to be shown.
_MOST_VALUES: Final = 200_000
_SHOWN_CHARACTERS: Final = 200


class _Loader(SafeLoader):
    """YAML without the silent choice of the last where a key stands twice, and within bounds."""

    def construct_document(self, node: yaml.Node) -> object:
        if _size(node, {}) > _MOST_VALUES:
            raise yaml.YAMLError(f"more than {_MOST_VALUES} values, aliases counted")
        return super().construct_document(node)

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 - as in the class above
    ) -> dict[Hashable, object]:
        keys: set[str] = set()
        for key, _ in node.value:
            # Other keys, such as lists, are refused below.
            if isinstance(key, yaml.ScalarNode):
                if key.value in keys:
                    raise yaml.YAMLError(
                        f"the key {cut(key.value, _SHOWN_CHARACTERS)!r} stands twice in one mapping"
                    )
                keys.add(key.value)
        return super().construct_mapping(node, deep=deep)


def read_document(text: str) -> object:
    """Return what the text says; raises one of `UNREADABLE`."""
    document: object = yaml.load(text, _Loader)  # noqa: S506 - it is safe
    return document


def why_unreadable(problem: Exception) -> str:
    """Return what is wrong, in the words of what `read_document` raised."""
    if isinstance(problem, yaml.YAMLError | RecursionError | ValueError):
        return str(problem)
    return f"a value does not fit its tag ({problem!r})"


def _size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """Return how many values a node is, with what its aliases stand for each time."""
    if id(node) not in sizes:
        # An alias of what it stands in is shown as three dots.
        sizes[id(node)] = 1
        parts = node.value if isinstance(node, yaml.CollectionNode) else ()
        pairs = (each if isinstance(each, tuple) else (each,) for each in parts)
        sizes[id(node)] += sum(_size(part, sizes) for pair in pairs for part in pair)
    return sizes[id(node)]
